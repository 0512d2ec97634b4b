import { text } from './strings.js';
import { h, keyed, say } from './dom.js';

// Requests are what agents wait to be allowed.
export class Requests {
  constructor(app) {
    this.app = app;
    this.id = 'requests';
    this.rows = h('ul', { className: 'asked' });
    this.empty = h('p', { className: 'empty' }, text.noRequests);
    this.element = h('section', { className: 'view requests', 'aria-label': text.requests }, this.rows, this.empty);
  }

  draw() {
    const all = [...this.app.store.requests.values()];
    this.empty.hidden = all.length > 0;
    keyed(this.rows, all, (r) => r.id, (r) => this.row(r), () => {});
  }

  enter() { this.rows.querySelector('pre, button')?.focus(); }

  // row shows all of what would run: an answer must not rest on a part of it.
  row(r) {
    const answer = (allow) => h('button', { type: 'button', className: allow ? 'primary' : 'danger', disabled: this.app.me.read_only, onclick: (e) => this.answer(e.currentTarget, r, allow) }, allow ? text.allow : text.deny);
    return h('li', {}, h('h2', {}, text.asks(r.agent || r.actor, r.tool)),
      r.command && h('pre', { tabIndex: 0 }, r.command),
      r.paths?.length && h('pre', { tabIndex: 0 }, r.paths.join('\n')),
      h('p', {}, [r.session, r.cwd && text.inFolder(r.cwd), r.rule && text.rule(r.rule)].filter(Boolean).join(' · ')),
      h('p', {}, text.expires(new Date(r.expires_at).toLocaleTimeString())),
      h('menu', {}, answer(false), answer(true)));
  }

  async answer(button, r, allow) {
    for (const b of button.parentNode.children) b.disabled = true;
    try {
      await this.app.api.call('request.answer', { id: r.id, allow });
    } catch (err) {
      say(err.code === 'not_found' ? text.gone : err.message, true);
      for (const b of button.parentNode.children) b.disabled = false;
    }
  }
}
