// Draws the figures. Colours are CSS variables, so that the colour scheme and paper need no new drawing.

const charts = JSON.parse(document.getElementById("charts").textContent);

function config(width, longest) {
  const ink = "var(--ink)", quiet = "var(--quiet)", line = "var(--line)";
  const text = { labelColor: ink, titleColor: quiet, labelFontSize: 12, titleFontSize: 12, titleFontWeight: "normal" };
  return {
    background: "transparent",
    font: "system-ui, sans-serif",
    view: { stroke: null },
    axis: { ...text, gridColor: line, domainColor: quiet, tickColor: quiet, labelLimit: 140, titleLimit: 0 },
    legend: {
      ...text, orient: "bottom", title: null, labelLimit: width - 70, symbolStrokeWidth: 2,
      columns: Math.max(1, Math.floor(width / (7.5 * Math.min(longest, 60) + 45))),
    },
  };
}

for (const place of document.querySelectorAll(".plot[data-chart]")) {
  const spec = charts[place.dataset.chart];
  const longest = Math.max(0, ...spec.data.values.map((row) => row.system.length));
  const drawn = { ...spec, config: config(place.clientWidth, longest) };
  try {
    // ast: expressions are interpreted, because the policy of this page forbids eval.
    await window.vegaEmbed(place, drawn, { ast: true, renderer: "svg", actions: false, defaultStyle: false, tooltip: { disableDefaultStyle: true } });
    place.style.minHeight = "";
  } catch (problem) {
    place.textContent = "This figure could not be drawn; its numbers are below.";
    console.error(problem);
  }
}
document.documentElement.dataset.figures = "drawn";
