// A phone's keyboard does more than add text: it replaces a word by a suggestion, or two blanks by
// a full stop. xterm.js sends only what is longer at the end. So what such a keyboard does to
// xterm.js's text field is sent from here, as the difference between the field's text before and
// after: DEL for what they do not share, then the rest. A composition is sent when it ends. Keys
// with a character of their own remain with xterm.js.

const mark = /[\p{M}\p{Cf}]/u; // part of the character before, and deleted with it

// change returns what to type to turn a text into another, with the cursor at its end.
function change(from, to) {
  const [before, after] = [[...from], [...to]];
  let same = 0;
  while (same < before.length && before[same] === after[same]) same++;
  while (same > 0 && (mark.test(before[same] || '') || mark.test(after[same] || ''))) same--;
  const gone = before.slice(same).filter((c) => !mark.test(c)).length;
  return '\x7f'.repeat(gone) + after.slice(same).join('').replaceAll('\n', '\r');
}

// typeChanges sends what a keyboard changes in a terminal's text field. What it returns sends what
// is left of a composition and empties the field, before a key that the keyboard does not know of.
export function typeChanges({ screen, term }) {
  const field = term.textarea;
  const preview = screen.querySelector('.composition-view');
  let known = ''; // the field's text after the last input; xterm.js clears it, and puts selections there
  let before = null; // the field's text before what has not been sent; null if everything has
  let pressed = false; // the input comes from a key that xterm.js has sent
  const send = () => {
    preview.classList.remove('active');
    if (before === null) return;
    const data = change(before, field.value);
    before = null;
    if (data) term.input(data);
  };
  const on = (type, listener) => screen.addEventListener(type, listener, true);
  on('keydown', (e) => {
    pressed = false;
    if (e.keyCode !== 229 && !['Shift', 'Control', 'Alt', 'AltGraph', 'Meta', 'CapsLock'].includes(e.key)) send();
  });
  on('keypress', () => { pressed = true; });
  on('beforeinput', () => { before ??= field.value === known ? known : ''; });
  on('input', (e) => {
    known = field.value;
    if (pressed || /Paste|Drop/.test(e.inputType)) {
      before = null;
      return;
    }
    e.stopPropagation();
    if (!e.isComposing) send();
  });
  on('compositionstart', (e) => e.stopPropagation());
  on('compositionupdate', (e) => {
    e.stopPropagation();
    preview.textContent = e.data;
    Object.assign(preview.style, { left: field.style.left, top: field.style.top, fontFamily: term.options.fontFamily, fontSize: `${term.options.fontSize}px` });
    preview.classList.toggle('active', Boolean(e.data));
  });
  on('compositionend', (e) => {
    e.stopPropagation();
    send();
  });
  return () => {
    send();
    field.value = '';
  };
}
