// xterm.js writes its style sheets as text into <style> elements, and colours into style
// attributes. The page's Content-Security-Policy refuses both, as it would what an attacker
// had put there. Sheets that scripts construct, and properties that they set, are allowed:
// what xterm.js writes is turned into these.

const make = document.createElement.bind(document);

document.createElement = (name, options) => (String(name).toLowerCase() === 'style' ? styleElement() : make(name, options));

// styleElement stands for a <style> element whose text goes to a constructed sheet.
function styleElement() {
  const e = make('span');
  const sheet = new CSSStyleSheet();
  let css = '';
  e.hidden = true;
  document.adoptedStyleSheets = [...document.adoptedStyleSheets, sheet];
  Object.defineProperty(e, 'textContent', {
    get: () => css,
    set: (value) => { sheet.replaceSync(css = value); },
  });
  Object.defineProperty(e, 'sheet', { get: () => sheet });
  e.remove = () => {
    document.adoptedStyleSheets = document.adoptedStyleSheets.filter((s) => s !== sheet);
    Element.prototype.remove.call(e);
  };
  return e;
}

const setAttribute = Element.prototype.setAttribute;

Element.prototype.setAttribute = function set(name, value) {
  if (name === 'style') this.style.cssText = value;
  else setAttribute.call(this, name, value);
};

const dark = {
  background: '#16181d', foreground: '#dde1e8', cursor: '#7cc4ff', cursorAccent: '#16181d',
  selectionBackground: '#2f4256', selectionForeground: '#ffffff',
  ansi: ['#1e2127', '#ff7b72', '#8fd694', '#f0c674', '#7cc4ff', '#d8a6ff', '#8fd3e0', '#dde1e8',
    '#6b7280', '#ffa198', '#b5e8b8', '#ffe08a', '#a6d8ff', '#e8c8ff', '#b6e6ef', '#ffffff'],
};

const light = {
  background: '#ffffff', foreground: '#1f2430', cursor: '#0b57a4', cursorAccent: '#ffffff',
  selectionBackground: '#d3e5f8', selectionForeground: '#10151f',
  ansi: ['#1f2430', '#b0221b', '#1a6b2c', '#7a4f00', '#0b57a4', '#7b2fa0', '#0a6173', '#c9ced8',
    '#5c6472', '#d1372e', '#2a8540', '#976300', '#2673c4', '#9a4bc0', '#167c92', '#ffffff'],
};

const names = ['black', 'red', 'green', 'yellow', 'blue', 'magenta', 'cyan', 'white'];

function xtermTheme({ ansi, ...theme }) {
  names.forEach((name, i) => {
    theme[name] = ansi[i];
    theme[`bright${name[0].toUpperCase()}${name.slice(1)}`] = ansi[i + 8];
  });
  return theme;
}

export const prefersLight = matchMedia('(prefers-color-scheme: light)');
export const calm = matchMedia('(prefers-reduced-motion: reduce)');
export const theme = () => xtermTheme(prefersLight.matches ? light : dark);

// minContrast is the least contrast of text in a terminal; 1 leaves colours alone. Programs choose
// theirs for dark terminals. xterm.js halves it for dim text, for which app.css has a colour.
export const minContrast = () => (prefersLight.matches ? 4.5 : 1);
