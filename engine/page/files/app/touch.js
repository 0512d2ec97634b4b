import { calm } from './styles.js';

const slow = 0.95; // how much of its speed a scroll keeps from one frame to the next
const far = 60; // pixels that make a swipe

// panTouch scrolls a terminal's scrollback under a finger. A program that takes the wheel,
// as those with a screen of their own do, gets it. What it gives stops a scroll under way.
export function panTouch(view) {
  const { screen, term } = view;
  let last = null;
  let rest = 0;
  let speed = 0;
  let frame = 0;
  const height = () => (screen.querySelector('.xterm-screen')?.clientHeight || 1) / term.rows;
  const scroll = (pixels) => {
    rest += pixels / height();
    const lines = Math.trunc(rest);
    rest -= lines;
    if (!lines) return;
    if (term.buffer.active.type === 'alternate' || term.modes.mouseTrackingMode !== 'none') wheel(lines);
    else term.scrollLines(lines);
  };
  const wheel = (lines) => term.element.querySelector('.xterm-screen').dispatchEvent(new WheelEvent('wheel', {
    deltaY: lines, deltaMode: WheelEvent.DOM_DELTA_LINE, bubbles: true, cancelable: true,
    clientX: last?.clientX, clientY: last?.clientY,
  }));
  const coast = () => {
    if (Math.abs(speed) < 0.5) return;
    scroll(speed);
    speed *= slow;
    frame = requestAnimationFrame(coast);
  };
  screen.addEventListener('touchstart', (e) => {
    cancelAnimationFrame(frame);
    last = e.touches.length === 1 ? e.touches[0] : null;
    speed = rest = 0;
  }, { passive: true });
  screen.addEventListener('touchmove', (e) => {
    if (!last || e.touches.length !== 1) return;
    speed = last.clientY - e.touches[0].clientY;
    last = e.touches[0];
    scroll(speed);
  }, { passive: true });
  screen.addEventListener('touchend', () => {
    if (!calm.matches) frame = requestAnimationFrame(coast);
  }, { passive: true });
  return () => cancelAnimationFrame(frame);
}

// swipe calls back for a finger that moves sideways.
export function swipe(element, callback) {
  let from = null;
  element.addEventListener('touchstart', (e) => { from = e.touches.length === 1 ? e.touches[0] : null; }, { passive: true });
  element.addEventListener('touchend', (e) => {
    const to = e.changedTouches[0];
    if (!from || !to) return;
    const [x, y] = [to.clientX - from.clientX, to.clientY - from.clientY];
    from = null;
    if (Math.abs(x) > far && Math.abs(x) > 2 * Math.abs(y)) callback(x < 0 ? 1 : -1);
  }, { passive: true });
}
