import { h } from './dom.js';

const held = 32 << 20; // bytes of pictures: what the engine takes to be here, api.PicturesHeld

// Pictures are those that a session's program has printed, drawn over its terminal: a canvas
// for each line that shows a part of one, which goes where its line goes.
export class Pictures {
  constructor(term, screen) {
    this.term = term;
    this.kept = new Map(); // by number, what came first first
    this.bytes = 0;
    this.parts = [];
    this.layer = h('div', { className: 'pictures', 'aria-hidden': 'true' });
    screen.querySelector('.xterm-screen').append(this.layer);
    for (const moved of [term.onRender, term.onScroll]) moved(() => this.place());
    term.buffer.onBufferChange(() => this.place());
  }

  // keep takes a picture before what shows it.
  keep({ number, width, png }) {
    this.bytes -= this.kept.get(number)?.size || 0; // a new connection sends it again
    this.kept.delete(number);
    const bytes = Uint8Array.from(atob(png), (c) => c.charCodeAt(0));
    const drawn = createImageBitmap(new Blob([bytes], { type: 'image/png' })).catch(() => null); // it is damaged
    this.kept.set(number, { drawn, width, size: bytes.length });
    this.bytes += bytes.length;
    for (const [oldest, { size }] of this.kept) {
      if (this.bytes <= held || this.kept.size === 1) break;
      this.kept.delete(oldest);
      this.bytes -= size;
    }
  }

  // show replaces what is on the screen; what has scrolled off stays.
  show(strips) {
    const { active } = this.term.buffer;
    this.drop((part) => part.buffer === active.type && (!part.marker || part.marker.line >= active.baseY));
    for (const strip of strips) {
      const picture = this.kept.get(strip.picture);
      if (!picture) continue;
      const canvas = h('canvas', {});
      const marker = active.type === 'normal' ? this.term.registerMarker(strip.y - active.cursorY) : null;
      const part = { strip, picture, canvas, marker, buffer: active.type };
      marker?.onDispose(() => this.drop((p) => p === part));
      this.parts.push(part);
      this.layer.append(canvas);
    }
    this.place();
  }

  drop(is) {
    const gone = this.parts.filter(is);
    this.parts = this.parts.filter((part) => !gone.includes(part));
    for (const part of gone) {
      part.canvas.remove();
      part.marker?.dispose();
    }
  }

  // place puts each part where its line is now.
  place() {
    if (!this.parts.length) return;
    const { active } = this.term.buffer;
    const box = this.layer.parentNode.getBoundingClientRect();
    const cell = { w: box.width / this.term.cols, h: box.height / this.term.rows };
    for (const { strip, picture, canvas, marker, buffer } of this.parts) {
      const y = marker ? marker.line - active.viewportY : strip.y;
      const seen = buffer === active.type && y >= 0 && y < this.term.rows;
      canvas.hidden = !seen;
      if (!seen) continue;
      const size = { w: (strip.to - strip.from) * cell.w, h: cell.h };
      Object.assign(canvas.style, { left: `${strip.from * cell.w}px`, top: `${y * cell.h}px`, width: `${size.w}px`, height: `${size.h}px` });
      draw(canvas, size, strip, picture);
    }
  }
}

// draw draws a line's part of a picture, once for each size.
async function draw(canvas, size, strip, picture) {
  const width = Math.ceil(size.w * devicePixelRatio);
  const height = Math.ceil(size.h * devicePixelRatio);
  if (canvas.width === width && canvas.height === height) return;
  canvas.width = width;
  canvas.height = height;
  const image = await picture.drawn;
  if (!image || canvas.width !== width || canvas.height !== height) return;
  const { from, to, x, row, cell, box, source } = strip;
  const scale = image.width / picture.width; // a very large one is sent in fewer pixels
  const on = canvas.getContext('2d');
  on.setTransform(width / ((to - from) * cell.X), 0, 0, height / cell.Y, 0, 0);
  on.translate((x - from) * cell.X, -row * cell.Y);
  on.drawImage(image, source.Min.X * scale, source.Min.Y * scale, (source.Max.X - source.Min.X) * scale, (source.Max.Y - source.Min.Y) * scale,
    box.Min.X, box.Min.Y, box.Max.X - box.Min.X, box.Max.Y - box.Min.Y);
}
