// Colors of the page and of its drawings.

/** Colors of a drawing in the light theme; saved drawings have them too. */
export const LIGHT = {
  paper: "#ffffff", ink: "#22262e", soft: "#6a7079", line: "#e2dfd8", accent: "#27609f",
  hit: "#0b7a5d", missed: "#bf3f0c", extra: "#8b3d9c",
};
const DARK = {
  paper: "#1b1e23", ink: "#e8e5de", soft: "#9ba2ad", line: "#343942", accent: "#86b7ee",
  hit: "#58c9a3", missed: "#ff9c6a", extra: "#d69ae6",
};

const darkSystem = matchMedia("(prefers-color-scheme: dark)");

/** Themes, each with the one that follows it. */
const THEMES = { auto: "dark", dark: "light", light: "auto" };

/** Colors of drawings in the theme of the page. */
export function currentPalette() {
  const theme = document.documentElement.dataset.theme ?? "auto";
  return (theme === "auto" ? darkSystem.matches : theme === "dark") ? DARK : LIGHT;
}

/** Switches the page to a theme and labels the button. */
export function applyTheme(theme, button) {
  document.documentElement.dataset.theme = theme;
  button.textContent = { auto: "◐ Auto", dark: "● Dark", light: "○ Light" }[theme];
  button.setAttribute("aria-label", `Colors: ${theme === "auto" ? "system default" : theme}`);
}

/** Switches the page to the next theme and labels the button. */
export function applyNextTheme(button) {
  applyTheme(THEMES[document.documentElement.dataset.theme], button);
}

/** Calls `draw` when the system turns dark or light. */
export function onSystemColors(draw) {
  darkSystem.addEventListener("change", draw);
}
