"""Results of finished runs in the forms of other places: Every Eval Ever's schema, the hub's `.eval_results`.

`choosing` says which results may stand for their corpus there, `eval_schema` and `hub_results` write them.
"""
