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

  // row shows all of what would run, as the engine has spelled it out: an answer must not rest on
  // a part of it. It can be allowed once the end of each text has been in sight.
  row(r) {
    const { shown } = r;
    const answer = (allow) => h('button', { type: 'button', className: allow ? 'primary' : 'danger', disabled: allow || this.app.me.read_only, onclick: (e) => this.answer(e.currentTarget, r, allow) }, allow ? text.allow : text.deny);
    const ends = [];
    const whole = (value) => {
      const end = h('span', { className: 'end' });
      ends.push(end);
      return h('pre', { tabIndex: 0 }, value, end);
    };
    const allow = answer(true);
    const hint = h('p', { className: 'hint' }, text.scrollFirst);
    const row = h('li', {}, h('h2', {}, text.asks(shown.asker, [shown.tool, shown.host].filter(Boolean).join(' @ '))),
      shown.command && whole(shown.command),
      shown.paths?.length && whole(shown.paths.join('\n')),
      h('p', {}, [shown.session, shown.cwd && text.inFolder(shown.cwd), shown.from && text.comesFrom(shown.from), shown.rule && text.rule(shown.rule)].filter(Boolean).join(' · ')),
      h('p', {}, text.expires(new Date(r.expires_at).toLocaleTimeString())),
      hint, h('menu', {}, answer(false), allow));
    this.onceSeen(ends, () => {
      row.dataset.seen = 'yes';
      hint.remove();
      allow.disabled = this.app.me.read_only;
    });
    return row;
  }

  // onceSeen calls seen when all elements have been in sight, above the buttons that a phone
  // keeps at the bottom.
  onceSeen(elements, seen) {
    const left = new Set(elements);
    const watcher = new IntersectionObserver((entries) => {
      for (const e of entries) if (e.intersectionRatio > 0.5) left.delete(e.target);
      if (left.size) return;
      watcher.disconnect();
      seen();
    }, { root: this.rows, rootMargin: '0px 0px -80px 0px', threshold: [0, 0.5, 1] });
    for (const e of elements) watcher.observe(e);
    if (!left.size) seen();
  }

  async answer(button, r, allow) {
    const buttons = [...button.parentNode.children];
    for (const b of buttons) b.disabled = true;
    try {
      await this.app.api.call('request.answer', { id: r.id, allow });
    } catch (err) {
      say(err.code === 'not_found' ? text.gone : err.message, true);
      for (const b of buttons) b.disabled = b.className === 'primary' && !button.closest('li').dataset.seen;
    }
  }
}
