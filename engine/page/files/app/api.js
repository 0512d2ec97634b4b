// What the page asks of `tandem web`.

export class Refused extends Error {
  constructor(status, body) {
    super(body.error || `status ${status}`);
    this.status = status;
    this.code = body.code;
    this.hint = body.hint;
  }
}

async function send(method, path, body, signal) {
  const answer = await fetch(path, {
    method, signal, credentials: 'same-origin', cache: 'no-store',
    headers: body === undefined ? {} : { 'Content-Type': 'application/json' },
    body: body === undefined ? undefined : JSON.stringify(body),
  });
  const type = answer.headers.get('Content-Type') || '';
  const value = type.startsWith('application/json') ? await answer.json() : {};
  if (!answer.ok) throw new Refused(answer.status, value);
  return value;
}

export const pair = (code) => send('POST', 'pair', { code });
export const me = () => send('GET', 'me');
export const leave = () => send('POST', 'leave', {});
export const pushing = () => send('GET', 'push');
export const subscribe = (subscription) => send('POST', 'push', { subscription });

export class Api {
  constructor(host) { this.host = host; }

  query(more = {}) {
    const q = new URLSearchParams(more);
    if (this.host) q.set('host', this.host);
    const out = q.toString();
    return out ? `?${out}` : '';
  }

  call(operation, input = {}, signal) { return send('POST', `call/${operation}${this.query()}`, input, signal); }

  events() { return new EventSource(`events${this.query()}`); }

  usage() { return new EventSource(`usage${this.query()}`); }

  attach(id, cols, rows) {
    const at = new URL(`attach${this.query({ id, cols, rows })}`, location.href);
    at.protocol = at.protocol === 'https:' ? 'wss:' : 'ws:';
    const socket = new WebSocket(at);
    socket.binaryType = 'arraybuffer';
    return socket;
  }
}
