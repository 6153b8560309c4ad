from .estimate import clustered_mean
from .estimate import Estimate
def spread(totals, pseudo, n, clusters, bounded, level=.95):
    v=max(totals)-min(totals)
    return Estimate(v,0.01,max(0,v-.02),v+.02,n,clusters)
