import { Terminal } from '../vendor/xterm.mjs';
import { FitAddon } from '../vendor/addon-fit.mjs';
import { minContrast, prefersLight, theme } from './styles.js';
import { text } from './strings.js';
import { h, icon, set, say } from './dom.js';
import { ended, endText, shownName } from './store.js';
import { SearchBar } from './search.js';
import { links } from './links.js';
import { settings } from './settings.js';
import { panTouch } from './touch.js';
import { Pictures } from './pictures.js';
import { typeChanges } from './typing.js';

const scrollback = 5000;
const history = 2000; // lines that are fetched from the engine
const retryFirst = 200;
const retryMost = 5000;
const settleTime = 250; // until sizes that changed one after the other are the same
const besideGap = 100; // between two pieces of what a terminal without the keyboard prints without end
const clipMost = 1 << 20; // bytes that a program may put on the clipboard, api.MaxClip
const inputMost = 256 << 10; // characters in one message

// hasGPU reports whether WebGL draws with a graphics processor: in software it is slower than
// the browser's own text.
function hasGPU() {
  const gl = document.createElement('canvas').getContext('webgl2', { failIfMajorPerformanceCaveat: true });
  if (!gl) return false;
  const info = gl.getExtension('WEBGL_debug_renderer_info');
  const name = String(gl.getParameter(info ? info.UNMASKED_RENDERER_WEBGL : gl.RENDERER));
  gl.getExtension('WEBGL_lose_context')?.loseContext();
  return !/swiftshader|llvmpipe|software|basic render/i.test(name);
}

// A TerminalView shows one session.
export class TerminalView {
  constructor(app, id, { decides }) {
    this.app = app;
    this.id = id;
    this.decides = decides; // its size counts from the start, not only once somebody types here
    this.readOnly = app.me.read_only;
    this.retry = retryFirst;
    this.queue = [];
    this.over = ''; // when the run began that has ended
    this.modifier = { ctrl: false, alt: false };
    this.make();
  }

  get process() { return this.app.store.processes.get(this.id); }

  make() {
    this.name = h('button', { type: 'button', className: 'link name', title: text.rename, disabled: this.readOnly, onclick: () => this.app.view('sessions').rename(this.id) });
    this.who = h('span', { className: 'who' });
    this.lock = h('button', { type: 'button', className: 'quiet lock', onclick: () => this.toggleLock(), hidden: this.readOnly });
    this.locked = h('span', { className: 'locked' });
    this.head = h('header', {}, this.name, this.locked, this.who, h('span', { className: 'grow' }), this.lock,
      h('button', { type: 'button', className: 'quiet', title: text.find, 'aria-label': text.find, onclick: () => this.find() }, icon('find')));
    this.screen = h('div', { className: 'screen' });
    this.note = h('p', { className: 'ended', hidden: true });
    this.search = new SearchBar(this);
    this.element = h('section', { className: 'pane', 'aria-label': text.terminal('') }, this.head, this.search.element, this.screen, this.note);
    this.element.dataset.session = this.id;
  }

  // open begins to show the session. The element is in the document by now.
  async open() {
    const size = settings.fontSize;
    // A blinking cursor keeps the browser making frames, and an echo waits for the one after its key's.
    this.term = new Terminal({
      theme: theme(), scrollback, fontSize: size, fontFamily: getComputedStyle(document.body).getPropertyValue('--mono'),
      cursorBlink: false, smoothScrollDuration: 0, screenReaderMode: settings.screenReader, disableStdin: this.readOnly,
      allowProposedApi: true, minimumContrastRatio: minContrast(), macOptionIsMeta: true,
      linkHandler: { activate: (_, uri) => links.open(uri), allowNonHttpProtocols: false },
    });
    this.fitter = new FitAddon();
    this.term.loadAddon(this.fitter);
    this.silence();
    this.term.registerLinkProvider(links.provider(this.term));
    this.term.parser.registerOscHandler(52, (data) => {
      this.clip(data.slice(data.indexOf(';') + 1));
      return true;
    });
    this.term.open(this.screen);
    this.pictures = new Pictures(this.term, this.screen);
    this.term.textarea?.setAttribute('aria-label', text.terminal(this.process?.name || ''));
    this.term.attachCustomKeyEventHandler((e) => this.key(e));
    this.term.onData((data) => this.typed(data));
    this.term.onBinary((data) => { if (!/[^\x00-\x7f]/.test(data)) this.typed(data); });
    this.term.onSelectionChange(() => this.app.selected(this));
    this.screen.addEventListener('focusin', () => this.app.focused(this));
    this.onTheme = () => Object.assign(this.term.options, { theme: theme(), minimumContrastRatio: minContrast() });
    prefersLight.addEventListener('change', this.onTheme);
    this.watcher = new ResizeObserver(() => {
      this.room = null; // to be measured again: not for each key, for that lays the page out
      this.later();
    });
    this.watcher.observe(this.screen);
    this.stopPan = panTouch(this);
    this.settleTyping = typeChanges(this);
    this.accelerate();
    this.update();
    await this.attach(true);
  }

  // accelerate draws with WebGL where the browser can.
  async accelerate() {
    if (settings.screenReader || this.app.touch.matches) return;
    if (!hasGPU()) return;
    const { WebglAddon } = await import('../vendor/addon-webgl.mjs');
    if (this.gone) return;
    const addon = new WebglAddon();
    addon.onContextLoss(() => addon.dispose());
    this.term.loadAddon(addon);
  }

  // silence keeps xterm.js from answering what programs ask of their terminal: the engine has
  // answered already.
  silence() {
    const parser = this.term.parser;
    const none = () => true;
    for (const id of [{ final: 'c' }, { prefix: '>', final: 'c' }, { prefix: '=', final: 'c' }, { final: 'n' }, { prefix: '?', final: 'n' },
      { prefix: '>', final: 'q' }, { prefix: '?', final: 'u' }, { intermediates: '$', final: 'p' },
      { prefix: '?', intermediates: '$', final: 'p' }, { final: 't' }, { final: 'x' }]) parser.registerCsiHandler(id, none);
    for (const id of [{ intermediates: '$', final: 'q' }, { intermediates: '+', final: 'q' }]) parser.registerDcsHandler(id, none);
    for (const code of [4, 10, 11, 12]) parser.registerOscHandler(code, (data) => data.includes('?'));
  }

  // wanted is how many cells there is room for here.
  wanted() {
    if (this.room) return this.room;
    const size = this.fitter.proposeDimensions();
    this.room = size && Number.isFinite(size.cols) ? { cols: Math.max(20, size.cols), rows: Math.max(4, size.rows) } : null;
    return this.room;
  }

  async attach(first) {
    const p = this.process;
    if (p && ended(p)) {
      this.showLast(p);
      return;
    }
    const own = this.decides && !this.readOnly ? this.wanted() : null;
    const others = p?.terminal && (!own || p.terminal.viewers > 0);
    const size = others ? p.terminal : own;
    if (size) this.resize(size.cols, size.rows);
    this.socket?.close();
    this.socket = null;
    this.sent = own;
    this.drawn = 0;
    this.calm();
    const before = first && this.fetchHistory(); // is written before what comes
    const turn = this.turn = {};
    const socket = await this.app.api.attach(this.id, own?.cols || 0, own?.rows || 0).catch(() => null);
    if (turn !== this.turn || this.gone) { // another one is asked for by now
      socket?.close();
      return;
    }
    if (!socket) {
      this.closed(null);
      return;
    }
    this.socket = socket;
    socket.onopen = () => this.flush();
    socket.onmessage = async (m) => {
      await before;
      this.receive(socket, m.data);
    };
    socket.onclose = () => this.closed(socket);
  }

  // showLast shows what a session that has exited showed last.
  async showLast(p) {
    const turn = this.turn = {};
    this.showEnd(p);
    const screen = await this.app.api.call('session.screen', { id: this.id, ansi: true, scrollback: history }).catch(() => null);
    if (turn !== this.turn || this.gone) return;
    if (!screen) {
      this.closed(null);
      return;
    }
    this.over = p.started_at;
    this.element.classList.remove('away');
    this.term.reset();
    this.resize(screen.cols, this.wanted()?.rows || screen.rows);
    const lines = screen.lines.slice(0, screen.lines.findLastIndex(Boolean) + 1);
    this.term.write(`\x1b[?25l${lines.join('\x1b[m\r\n')}\x1b[m`);
    this.update();
  }

  // fetchHistory writes what has scrolled off the screen.
  async fetchHistory() {
    try {
      const screen = await this.app.api.call('session.screen', { id: this.id, ansi: true, scrollback: history });
      const lines = screen.lines.slice(0, Math.max(0, screen.lines.length - screen.rows));
      if (this.gone || !lines.length) return;
      const below = '\r\n'.repeat(this.term.rows - 1);
      await new Promise((done) => { this.term.write(`${lines.join('\x1b[m\r\n')}\x1b[m\r\n${below}`, done); });
    } catch { /* what is shown now is shown without it */ }
  }

  receive(socket, data) {
    if (socket !== this.socket) return;
    this.retry = retryFirst;
    this.element.classList.remove('away');
    if (typeof data === 'string') {
      const note = JSON.parse(data);
      if (note.ended) this.end(note.ended);
      if (note.picture) this.pictures.keep(note.picture);
      if (note.shown) this.term.write('', () => this.pictures.show(note.shown)); // behind what came before
      if (note.picture || note.shown) this.drew(socket, data.length);
      return;
    }
    const drawn = data.byteLength;
    this.term.write(new Uint8Array(data), () => this.drew(socket, drawn));
  }

  // drew asks for more, once a frame: a program that prints without end gets what a frame shows,
  // and other terminals the rest of the time; ten times a second if another one has the keyboard.
  // What it prints meanwhile the engine leaves out.
  drew(socket, bytes) {
    if (socket !== this.socket) return;
    this.drawn += bytes;
    if (this.app.terminal === this) this.frame ||= requestAnimationFrame(() => this.more());
    else this.pause ||= setTimeout(() => this.more(), besideGap);
  }

  more() {
    this.calm();
    if (this.drawn && this.socket?.readyState === WebSocket.OPEN) this.socket.send(JSON.stringify({ drawn: this.drawn }));
    this.drawn = 0;
  }

  calm() {
    cancelAnimationFrame(this.frame);
    clearTimeout(this.pause);
    this.frame = this.pause = 0;
  }

  closed(socket) {
    if (socket !== this.socket || this.gone || this.over) return;
    this.socket = null;
    this.element.classList.add('away');
    this.timer = setTimeout(() => this.attach(false), this.retry);
    this.retry = Math.min(this.retry * 2, retryMost);
  }

  end(p) {
    this.over = p.started_at;
    this.showEnd(p);
    this.update(); // the session may have been started again before this arrived
  }

  showEnd(p) {
    set(this.note, endText(p));
    this.note.hidden = false;
  }

  // revive shows a session that was started again.
  revive() {
    this.over = '';
    this.note.hidden = true;
    this.term.reset();
    this.attach(true);
  }

  send(message) {
    if (this.readOnly || this.over) return;
    const out = JSON.stringify(message);
    if (this.socket?.readyState === WebSocket.OPEN) this.socket.send(out);
    else if (this.queue.length < 100) this.queue.push(out);
  }

  flush() {
    for (const out of this.queue.splice(0)) this.socket.send(out);
  }

  typed(data) {
    if (data === '\x1b[I' || data === '\x1b[O') { // reports of the focus, which nobody typed
      this.send({ focus: data === '\x1b[I' });
      return;
    }
    this.stopPan();
    const { viewportY, baseY } = this.term.buffer.active;
    if (viewportY !== baseY) this.term.scrollToBottom(); // else it draws all rows anew, and the echo waits for that frame
    this.takeSize();
    const input = this.modify(data);
    for (let i = 0; i < input.length; i += inputMost) this.send({ input: input.slice(i, i + inputMost) });
  }

  // modify applies keys of the key bar that were pressed before.
  modify(data) {
    const { ctrl, alt } = this.modifier;
    if (!ctrl && !alt) return data;
    this.modifier.ctrl = this.modifier.alt = false;
    this.app.modified(this);
    let out = data;
    if (ctrl && data.length === 1) out = String.fromCharCode(data.toUpperCase().charCodeAt(0) & 0x1f);
    if (ctrl && /^\x1b[[O][ABCD]$/.test(data)) out = `\x1b[1;5${data.at(-1)}`;
    return alt ? `\x1b${out}` : out;
  }

  paste(clip) {
    this.takeSize();
    for (let i = 0; i < clip.length; i += inputMost) this.send({ paste: clip.slice(i, i + inputMost) });
  }

  // takeSize makes the session as large as there is room for here: whoever types decides.
  takeSize() {
    const size = this.wanted();
    if (!size || this.readOnly) return;
    this.decides = true;
    if (this.sent?.cols !== size.cols || this.sent?.rows !== size.rows) {
      this.sent = size;
      this.send({ size });
    }
    this.resize(size.cols, size.rows);
  }

  resize(cols, rows) {
    if (cols > 0 && rows > 0 && (this.term.cols !== cols || this.term.rows !== rows)) this.term.resize(cols, rows);
  }

  later() {
    clearTimeout(this.settling);
    this.settling = setTimeout(() => this.settle(), settleTime);
  }

  // settle follows a change of sizes: of the room here, or of the session, which another
  // viewer may decide. What came before the terminal had the session's size was drawn wrong
  // and is asked for again.
  settle() {
    if (this.gone) return;
    const p = this.process;
    const size = this.wanted();
    if (this.over) {
      if (size) this.resize(this.term.cols, size.rows);
      return;
    }
    if (!p?.terminal || !size) return;
    if (this.decides && !this.readOnly && (this.sent?.cols !== size.cols || this.sent?.rows !== size.rows)) {
      this.sent = size;
      this.send({ size });
      this.later();
      return;
    }
    const { cols, rows } = p.terminal;
    if (cols === this.term.cols && rows === this.term.rows) return;
    this.resize(cols, rows);
    if (this.socket) this.attach(false);
  }

  key(e) {
    if (e.type !== 'keydown') return true;
    if (e.keyCode === 229) return false; // typing.js sends what it changes
    const mod = e.ctrlKey || e.metaKey;
    if (mod && e.shiftKey && e.code === 'KeyF') {
      e.preventDefault();
      this.find();
      return false;
    }
    if (mod && e.shiftKey && e.code === 'KeyC' || e.metaKey && e.code === 'KeyC' || e.ctrlKey && e.code === 'Insert') {
      if (!this.term.hasSelection()) return true;
      e.preventDefault();
      this.copy();
      return false;
    }
    if (e.ctrlKey && e.shiftKey && e.code === 'KeyV') return false; // the browser pastes
    return !this.app.shortcut(e); // which the page gets
  }

  copy() {
    const chosen = this.term.getSelection();
    if (chosen) this.toClipboard(chosen, text.copied);
  }

  // clip copies what a program puts on the clipboard, in base64, while it has the keyboard.
  clip(encoded) {
    const { app } = this;
    if (!app.me.clipboard || app.terminal !== this || app.current !== 'sessions' || !document.hasFocus()) return;
    if (encoded === '?' || encoded.length > clipMost * 4 / 3 + 4) return;
    let clip = '';
    try {
      clip = new TextDecoder().decode(Uint8Array.from(atob(encoded), (c) => c.charCodeAt(0)));
    } catch { /* not base64 */ }
    if (clip) this.toClipboard(clip, text.programCopied);
  }

  async toClipboard(clip, done) {
    try {
      await navigator.clipboard.writeText(clip);
      say(done);
    } catch {
      say(text.cannotCopy, true);
    }
  }

  find() { this.search.open(); }

  focus() { this.term?.focus(); }

  async toggleLock() {
    const taken = Boolean(this.process?.terminal?.keyboard);
    try {
      await this.app.api.call('session.keyboard', { id: this.id, take: !taken });
    } catch (err) {
      say(err.message, true);
    }
  }

  // update shows what the engine tells of the session.
  update() {
    const p = this.process;
    if (!p) return;
    set(this.name, shownName(p));
    this.element.setAttribute('aria-label', text.terminal(p.name));
    const t = p.terminal || {};
    set(this.locked, t.keyboard ? text.locked : '');
    set(this.who, this.readOnly ? text.readOnly : t.typist && t.typist !== 'page' ? text.typedLast(t.typist) : '');
    this.drawLock(Boolean(t.keyboard));
    if (ended(p) && this.over) set(this.note, endText(p));
    if (p.state === 'running' && this.over && this.over !== p.started_at) this.revive();
    if (this.term && !this.over && (t.cols !== this.term.cols || t.rows !== this.term.rows)) this.later();
  }

  drawLock(taken) {
    if (this.taken === taken) return;
    this.taken = taken;
    const does = taken ? text.unlock : text.lock;
    this.lock.replaceChildren(icon(taken ? 'locked' : 'open'));
    this.lock.title = does;
    this.lock.setAttribute('aria-label', does);
    this.lock.setAttribute('aria-pressed', String(taken));
  }

  dispose() {
    this.gone = true;
    clearTimeout(this.timer);
    clearTimeout(this.settling);
    this.calm();
    this.watcher?.disconnect();
    prefersLight.removeEventListener('change', this.onTheme);
    this.socket?.close();
    this.term?.dispose();
    this.element.remove();
  }
}
