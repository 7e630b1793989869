// Opens the page of one class against the rest: the binary page, but for what it shares with this one.
(async () => {
  const pick = document.getElementById("pick");
  const frame = document.getElementById("class-page");
  if (!pick) return;
  const data = await unpacked("cutline-data");
  const shared = {
    css: data.css,
    script: document.getElementById("cutline-inner").textContent,
    csp: document.querySelector('meta[http-equiv="Content-Security-Policy"]').content,
  };
  pick.addEventListener("change", () => {
    const one = data.classes[pick.value];
    frame.hidden = !one;
    if (!one) return;
    frame.srcdoc = one.page.replace(/<shared-(css|script|csp)>/g, (_, name) => shared[name]);
    frame.title = one.name + " against the rest";
  });
})();
