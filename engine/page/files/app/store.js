import { text } from './strings.js';
import { me, Refused } from './api.js';

const retryFirst = 200;
const retryMost = 5000;

// A Store is what the page knows of one engine, as its events tell it.
export class Store extends EventTarget {
  constructor(api) {
    super();
    this.api = api;
    this.processes = new Map();
    this.requests = new Map();
    this.machines = new Map();
    this.usage = new Map();
    this.layout = null;
    this.layoutRevision = 0;
    this.away = '';
    this.known = false; // a snapshot has come
    this.histories = 0;
    this.retry = retryFirst;
    this.changed = false;
  }

  open() {
    this.source = this.api.events({
      message: (e) => this.take(e),
      away: (e) => this.setAway(text.away(e.error || text.engineAway)),
      lost: () => this.lost(),
    });
  }

  close() {
    clearTimeout(this.timer);
    this.source?.close();
    this.source = null;
  }

  // lost asks whether this browser is still let in, and opens the stream again.
  lost() {
    this.close();
    this.setAway(text.away(text.serverAway));
    this.timer = setTimeout(async () => {
      try {
        await me();
        this.open();
      } catch (err) {
        if (err instanceof Refused && err.status === 401) this.dispatchEvent(new Event('revoked'));
        else this.lost();
      }
    }, this.retry);
    this.retry = Math.min(this.retry * 2, retryMost);
  }

  take(e) {
    switch (e.type) {
      case 'snapshot':
        this.processes = new Map((e.processes || []).map((p) => [p.id, p]));
        this.requests.clear();
        this.layout = e.layout || null;
        this.layoutRevision = e.revision || 0;
        this.info = e.info;
        this.known = true;
        this.retry = retryFirst;
        this.setAway('');
        break;
      case 'process': this.processes.set(e.process.id, e.process); break;
      case 'removed': this.processes.delete(e.id); break;
      case 'request':
        if (e.request.answer) this.requests.delete(e.request.id);
        else this.requests.set(e.request.id, e.request);
        break;
      case 'history': this.histories = e.history; break;
      case 'machine': this.machines.set(e.machine.name, e.machine); break;
      case 'layout': this.layout = e.layout; break;
      case 'kept':
        if ((e.revision || 0) >= this.layoutRevision) {
          this.layout = e.layout;
          this.layoutRevision = e.revision || 0;
        }
        break;
      case 'notice': this.dispatchEvent(new CustomEvent('notice', { detail: e.notice })); break;
    }
    this.change();
  }

  setAway(why) {
    if (why === this.away) return;
    this.away = why;
    this.change();
  }

  // change tells those who draw, once for all that came at the same time.
  change() {
    if (this.changed) return;
    this.changed = true;
    setTimeout(() => {
      this.changed = false;
      this.dispatchEvent(new Event('change'));
    });
  }

  watchUsage(on) {
    if (on === Boolean(this.usageSource)) return;
    clearTimeout(this.usageTimer);
    this.usageSource?.close();
    this.usageSource = null;
    if (on) this.openUsage();
  }

  openUsage() {
    this.usageSource = this.api.usage({
      message: (all) => {
        this.usage = new Map(all.map((u) => [u.id, u]));
        this.change();
      },
      lost: () => { this.usageTimer = setTimeout(() => this.openUsage(), retryMost); },
    });
  }

  sessions() {
    const closed = new Set(this.layout?.closed || []);
    return [...this.processes.values()].filter((p) => p.kind === 'session' && !closed.has(p.id) && !(p.supervision?.transient && ended(p)));
  }

  services() { return [...this.processes.values()].filter((p) => p.kind === 'process'); }
}

export const ended = (p) => p.state === 'stopped' || p.state === 'exited' || p.state === 'failed';

// failed reports whether a process ended by itself and not well, as far as anybody knows.
export const failed = (p) => p.state === 'failed' || p.state === 'exited' && p.exit_code !== 0;

// stateText says in words how it is with a process.
export function stateText(p) {
  if (p.state === 'waiting' && p.waits_for) return text.waitsFor(p.waits_for.map((d) => d.name || d.id).join(', '));
  if (p.state === 'exited' && p.exit_code !== null && p.exit_code !== undefined) return text.exitedWith(p.exit_code);
  if (p.state !== 'stopped' && ended(p) && p.exit_signal) return text.endedBy(p.exit_signal);
  if (p.state === 'running' && p.supervision?.ready === false) return text.notReady;
  return text.state[p.state] || p.state;
}
