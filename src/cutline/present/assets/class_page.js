// Opens the page of one class against the rest: the binary page, built from parts that this page holds.
(async () => {
  const pick = document.getElementById("pick");
  const frame = document.getElementById("class-page");
  if (!pick) return;
  const data = await unpacked("cutline-classes");
  const shared = {
    css: data.css,
    script: document.getElementById("cutline-inner").textContent,
    version: document.querySelector('meta[name="generator"]').content.replace("cutline ", ""),
    csp: document.querySelector('meta[http-equiv="Content-Security-Policy"]').content,
  };
  pick.addEventListener("change", () => {
    const one = data.classes[pick.value];
    frame.hidden = !one;
    if (!one) return;
    const parts = { ...one.parts, ...shared };
    frame.srcdoc = data.template.replace(/\{(\w+)\}/g, (_, name) => parts[name]);
    frame.title = one.name + " against the rest";
  });
})();
