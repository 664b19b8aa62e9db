/** Light or dark: Label Studio's own choice (`data-color-scheme` on html or body) if any, else the system's. */

export function watchScheme(onScheme) {
  const system = matchMedia("(prefers-color-scheme: dark)");
  const chosen = () => document.documentElement.dataset.colorScheme ?? document.body.dataset.colorScheme;
  const tell = () => onScheme(chosen() ?? (system.matches ? "dark" : "light"));
  const observer = new MutationObserver(tell);
  for (const element of [document.documentElement, document.body]) {
    observer.observe(element, { attributes: true, attributeFilter: ["data-color-scheme"] });
  }
  system.addEventListener("change", tell);
  tell();
  return () => {
    observer.disconnect();
    system.removeEventListener("change", tell);
  };
}
