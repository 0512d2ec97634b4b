// h makes an element. Children are elements or texts: nothing that a program printed is ever
// read as HTML.
export function h(tag, props = {}, ...children) {
  const e = document.createElement(tag);
  for (const [name, value] of Object.entries(props)) {
    if (value === undefined || value === null || value === false) continue;
    if (name.startsWith('on')) e.addEventListener(name.slice(2), value);
    else if (name in e && name !== 'list' && name !== 'role') e[name] = value;
    else e.setAttribute(name, value === true ? '' : value);
  }
  e.append(...children.flat().filter((c) => c !== undefined && c !== null && c !== false));
  return e;
}

const shapes = {
  find: 'M7 2.5a4.5 4.5 0 1 1 0 9 4.5 4.5 0 0 1 0-9zM10.3 10.3L14 14',
  locked: 'M3.5 7.5h9v6h-9zM5.5 7.5V5a2.5 2.5 0 0 1 5 0v2.5',
  open: 'M3.5 7.5h9v6h-9zM5.5 7.5V5a2.5 2.5 0 0 1 4.8-1',
  settings: 'M2 4.5h7M13 4.5h1M2 11.5h1M7 11.5h7M11 3v3M5 10v3',
  menu: 'M2 4h12M2 8h12M2 12h12',
};

// icon is a small drawing; what it means is said beside it.
export function icon(name) {
  const svg = document.createElementNS('http://www.w3.org/2000/svg', 'svg');
  const path = document.createElementNS('http://www.w3.org/2000/svg', 'path');
  svg.setAttribute('viewBox', '0 0 16 16');
  svg.setAttribute('class', 'icon');
  svg.setAttribute('aria-hidden', 'true');
  path.setAttribute('d', shapes[name]);
  svg.append(path);
  return svg;
}

// set changes a text only when it is another: assistive technology announces changes.
export function set(e, value) {
  if (e.textContent !== value) e.textContent = value;
}

// keyed makes the children of a list those of items, keeping the elements of items that stay,
// and with them focus and selection.
export function keyed(list, items, keyOf, make, update) {
  const old = new Map([...list.children].map((e) => [e.dataset.key, e]));
  let at = list.firstElementChild;
  for (const item of items) {
    const key = keyOf(item);
    let e = old.get(key);
    old.delete(key);
    if (!e) {
      e = make(item);
      e.dataset.key = key;
    }
    update(e, item);
    if (e === at) at = at.nextElementSibling;
    else list.insertBefore(e, at);
  }
  for (const e of old.values()) e.remove();
}

// arrows has the arrow keys go from one row of a list to the next: to what selector finds in
// each.
export function arrows(list, selector) {
  list.addEventListener('keydown', (e) => {
    const by = { ArrowDown: 1, ArrowUp: -1 }[e.key];
    const rows = [...list.querySelectorAll(selector)];
    const to = rows[rows.indexOf(e.target) + by];
    if (!by || !rows.includes(e.target)) return;
    e.preventDefault();
    to?.focus();
  });
}

// ask shows a question and gives what its form holds, or null.
export function ask(title, { detail, fields = [], yes, no, danger }) {
  return new Promise((done) => {
    const form = h('form', { method: 'dialog' },
      h('h2', {}, title), detail && h('p', {}, detail), ...fields,
      h('menu', {},
        h('button', { type: 'button', onclick: () => dialog.close() }, no),
        h('button', { type: 'submit', value: 'yes', className: danger ? 'danger' : 'primary' }, yes)));
    const dialog = h('dialog', { 'aria-label': title }, form);
    dialog.addEventListener('close', () => {
      const data = new FormData(form);
      dialog.remove();
      done(dialog.returnValue === 'yes' ? data : null);
    });
    document.body.append(dialog);
    dialog.showModal();
  });
}

let toastTimer = 0;

// say shows a note for a while.
export function say(message, bad) {
  let e = document.getElementById('toast');
  if (!e) {
    e = h('div', { id: 'toast', role: 'status', 'aria-live': 'polite' });
    document.body.append(e);
  }
  e.textContent = message;
  e.className = bad ? 'bad on' : 'on';
  clearTimeout(toastTimer);
  toastTimer = setTimeout(() => { e.className = ''; }, 5000);
}

export function size(bytes, units) {
  let n = bytes;
  let i = 0;
  for (; n >= 1024 && i < units.length - 1; i++) n /= 1024;
  return `${n < 10 && i > 0 ? n.toFixed(1) : Math.round(n)} ${units[i]}`;
}

export function span(from, to = Date.now()) {
  const s = Math.max(0, Math.round((to - new Date(from)) / 1000));
  if (s < 60) return `${s}s`;
  if (s < 3600) return `${Math.floor(s / 60)}m`;
  if (s < 48 * 3600) return `${Math.floor(s / 3600)}h`;
  return `${Math.floor(s / 86400)}d`;
}
