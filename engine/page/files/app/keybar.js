import { text } from './strings.js';
import { h, say } from './dom.js';

const arrows = { up: 'A', down: 'B', right: 'C', left: 'D' };

// A KeyBar has the keys that a phone's keyboard lacks.
export class KeyBar {
  constructor(app) {
    this.app = app;
    const names = Object.keys(text.keys);
    this.buttons = new Map(names.map((name) => [name, h('button', { type: 'button', 'aria-label': text.keyNames[name] || text.keys[name], onclick: () => this.press(name) }, text.keys[name])]));
    this.element = h('div', { className: 'keybar', role: 'toolbar', 'aria-label': text.keyBar }, ...this.buttons.values());
    this.element.addEventListener('pointerdown', (e) => e.preventDefault()); // the keyboard stays as it is
  }

  draw() {
    const view = this.app.terminal;
    this.element.hidden = !this.app.touch.matches || this.app.current !== 'sessions' || this.app.me.read_only || !view;
    for (const name of ['ctrl', 'alt']) this.buttons.get(name).setAttribute('aria-pressed', String(Boolean(view?.modifier[name])));
  }

  press(name) {
    const view = this.app.terminal;
    if (!view) return;
    if (name !== 'ctrl' && name !== 'alt') view.settleTyping();
    switch (name) {
      case 'ctrl': case 'alt':
        view.modifier[name] = !view.modifier[name];
        this.draw();
        break;
      case 'esc': view.typed('\x1b'); break;
      case 'tab': view.typed('\t'); break;
      case 'prefix': view.typed('\x02'); break;
      case 'paste': this.paste(view); break;
      default: view.typed(`\x1b${view.term.modes.applicationCursorKeysMode ? 'O' : '['}${arrows[name]}`);
    }
  }

  async paste(view) {
    try {
      view.paste(await navigator.clipboard.readText());
    } catch {
      say(text.cannotPaste, true);
    }
  }
}
