// The interactive timeline of modelled launches, one above the other on one axis of time. timeline_data.py describes
// the data. The module imports nothing and needs no build step, so a notebook's widget (anywidget), a file of its own
// and any other page load it as it stands, with timeline.css.
//
//   mountTimeline(element, data, {wheelNeedsFocus})  draws into an empty element; returns {destroy, view, range()}

const FORMAT = "gnt-timeline/1";
const LANE = 40, LANE_GAP = 4, AXIS = 22, LABEL = 52;  // CSS pixels
const LEAST_SPAN = 0.002;  // us, the narrowest view: a few cycles
const FINE = 2;  // pixels: narrower boxes are merged into columns of this width, more opaque where boxes are denser
const GROUND = 0.07;  // the share of the text colour in the background of a lane
const RIM = 3;  // WCAG 2's contrast: boxes of a pipe whose colour has less contrast to the background get a rim
const STEP = 1.3;  // the factor by which one step of the wheel zooms
const CLICK = 4;  // pixels: a pointer that moves less between press and release makes a click

export function mountTimeline(element, data, options = {}) {
  if (data.format !== FORMAT) {
    element.textContent = `This timeline is of the format ${data.format}; this program draws ${FORMAT}.`;
    return {destroy() {}, view: {}, range: () => null};
  }
  const timeline = new TimelineView(element, data, options);
  return {destroy: () => timeline.destroy(), view: timeline.view, range: () => timeline.range()};
}

// anywidget: the model has the data as text, because a copy of large lists through the widget's state is slow.
export default {
  render({model, el}) {
    const timeline = mountTimeline(el, JSON.parse(model.get("data")), {wheelNeedsFocus: true});
    return () => timeline.destroy();
  },
};

class TimelineView {
  constructor(element, data, options) {
    this.data = data;
    this.options = options;
    this.view = {start: 0, end: 1};
    this.picked = null;
    this.ending = new AbortController();
    this.root = add(element, "div", "gnt-timeline");
    this.buildBar();
    this.rows = data.launches.map((launch) => new Row(this, launch));
    this.said = add(this.root, "div", "gnt-timeline-said");
    this.said.setAttribute("role", "status");
    this.buildNotes();
    this.reset();
    this.pick(null);
    this.resizing = new ResizeObserver(() => this.draw());
    this.resizing.observe(this.root);
    const dark = matchMedia("(prefers-color-scheme: dark)");
    dark.addEventListener("change", () => this.draw(), {signal: this.ending.signal});
    // JupyterLab changes its theme by attributes of the body.
    this.themes = new MutationObserver(() => requestAnimationFrame(() => this.draw()));
    this.themes.observe(document.body, {attributes: true});
  }

  destroy() {
    this.ending.abort();
    this.resizing.disconnect();
    this.themes.disconnect();
    this.root.remove();
  }

  buildBar() {
    const bar = add(this.root, "div", "gnt-timeline-bar");
    const button = (text, name, act) => {
      const made = add(bar, "button", "", text);
      made.type = "button";
      made.title = name;
      made.setAttribute("aria-label", name);
      made.addEventListener("click", act, {signal: this.ending.signal});
    };
    button("+", "zoom in", () => this.zoom(1 / STEP ** 2));
    button("−", "zoom out", () => this.zoom(STEP ** 2));
    button("whole", "show the whole time", () => this.reset());
    this.shown = add(bar, "span", "gnt-timeline-faint gnt-timeline-range");
    const legend = add(this.root, "div", "gnt-timeline-legend");
    const key = (words, kind, look) => {
      const one = add(legend, "span", "gnt-timeline-key");
      Object.assign(add(one, "span", `gnt-timeline-swatch ${kind}`).style, look);
      add(one, "span", "", words);
    };
    for (const pipe of this.data.pipes) key(`${pipe.name}: ${pipe.does}`, "", {background: pipe.colour});
    key("half height: S issues", "issue", {background: this.data.pipes[0].colour});
    key("thin: data still under way", "late", {background: this.data.pipes[1].colour, opacity: 0.75});
    key("frame: waits", "", {background: "transparent", borderStyle: "dashed"});
  }

  buildNotes() {
    const notes = [...new Set(this.data.launches.flatMap((launch) => launch.notes))];
    const list = add(this.root, "ul", "gnt-timeline-notes gnt-timeline-faint");
    for (const note of notes) add(list, "li", "", note);
    const wheel = this.options.wheelNeedsFocus ? "the wheel zooms once the timeline is clicked, or with Ctrl"
      : "the wheel zooms";
    add(list, "li", "", `${wheel}; dragging moves, a double click shows all; keys: + − zoom, ← → move, ` +
      "↑ ↓ choose a pipe, Shift with ← → an instruction, Home shows all");
  }

  // The time in microseconds at which the last result of the shown cores is ready, but at least LEAST_SPAN.
  get whole() {
    return Math.max(...this.rows.map((row) => row.end), LEAST_SPAN);
  }

  range() {
    return [this.view.start, this.view.end];
  }

  reset() {
    this.look(0, this.whole * 1.01);
  }

  // Shows the time from start to end. A range that reaches outside the launches is moved or shortened; one below
  // LEAST_SPAN is lengthened.
  look(start, end) {
    const most = this.whole * 1.01, width = Math.min(Math.max(end - start, LEAST_SPAN), most);
    this.view.start = Math.min(Math.max(start, 0), most - width);
    this.view.end = this.view.start + width;
    this.draw();
  }

  // Multiplies the length of the shown time by a factor; below 1 this zooms in. at: the time that keeps its place.
  zoom(by, at = (this.view.start + this.view.end) / 2) {
    const {start, end} = this.view;
    this.look(at - (at - start) * by, at + (end - at) * by);
  }

  get isWhole() {
    return this.view.end - this.view.start >= this.whole * 1.0099;
  }

  move(us) {
    this.look(this.view.start + us, this.view.end + us);
  }

  // Picks a box and describes it. picked: {row, lane, kind, index} of an instruction ("span") or an "issue"; or null.
  pick(picked) {
    if (picked && ["row", "kind", "lane", "index"].every((name) => this.picked?.[name] === picked[name])) return;
    this.picked = picked;
    this.said.replaceChildren();
    if (picked) picked.row.say(picked, this.said);
    else add(this.said, "span", "gnt-timeline-faint", "Point at a box: what it is, where, and what it waited for.");
    this.draw();
  }

  draw() {
    if (this.waiting) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      const style = getComputedStyle(this.root);
      const colour = (name) => style.getPropertyValue(`--gnt-${name}`).trim();
      const theme = {ink: colour("ink"), faint: colour("faint"), paper: colour("paper"), line: colour("line"),
        focus: colour("focus"), font: style.fontFamily};
      const ground = mixed(rgb(theme.paper), rgb(theme.ink), GROUND);
      theme.rims = new Set(this.data.pipes.filter((pipe) => contrast(rgb(pipe.colour), ground) < RIM));
      const {start, end} = this.view;
      this.shown.textContent = `${us(start)} to ${us(Math.min(end, this.whole))} us of ${us(this.whole)} us`;
      for (const row of this.rows) row.draw(theme);
    });
  }
}

// One launch: a heading with the choice of its core, and a canvas with the lanes of that core.
class Row {
  constructor(timeline, launch) {
    this.timeline = timeline;
    this.launch = launch;
    this.pipes = timeline.data.pipes;
    const head = add(timeline.root, "div", "gnt-timeline-head");
    const name = add(head, "span");
    add(name, "span", "gnt-timeline-name", launch.kernel);
    add(name, "span", "gnt-timeline-faint", `  ${launch.machine}, ${launch.blocks} block${launch.blocks > 1 ? "s" : ""}: ` +
      `${launch.modelled_us.toFixed(2)} us modelled, ${launch.launch_us.toFixed(2)} us of them launch`);
    this.buildChoice(head);
    this.canvas = add(timeline.root, "canvas");
    this.canvas.tabIndex = 0;
    this.canvas.style.height = `${this.pipes.length * (LANE + LANE_GAP) + AXIS}px`;
    this.canvas.setAttribute("role", "application");
    this.lane = Math.max(this.pipes.findIndex((pipe) => pipe.name === "V"), 0);
    this.choose(this.longest());
    this.listen();
  }

  // Returns the index of the core that took longest.
  longest() {
    const times = this.launch.cores.map((core) => core.us);
    return times.indexOf(Math.max(...times));
  }

  buildChoice(head) {
    if (this.launch.cores.length < 2) {
      add(head, "span", "gnt-timeline-faint", `block ${this.launch.cores[0].block}`);
      return;
    }
    const label = add(head, "label", "", "block ");
    const choice = add(label, "select");
    this.launch.cores.forEach((core, place) => {
      add(choice, "option", "", `${core.block} (${core.us.toFixed(2)} us)`).value = place;
    });
    choice.value = this.longest();
    choice.addEventListener("change", () => {
      this.choose(Number(choice.value));
      if (this.timeline.picked?.row === this) this.timeline.pick(null);
      this.timeline.look(this.timeline.view.start, this.timeline.view.end);
    }, {signal: this.timeline.ending.signal});
  }

  choose(place) {
    this.core = this.launch.cores[place];
    this.lanes = this.pipes.map((pipe) => new Lane(this.core.pipes[pipe.name]));
    this.issues = new Lane(this.core.issues);
    this.end = Math.max(this.issues.latest, ...this.lanes.map((lane) => lane.latest));
    const busy = this.pipes.map((pipe) => `${pipe.name} ${this.core.busy_us[pipe.name].toFixed(2)} us`).join(", ");
    this.canvas.setAttribute("aria-label", `Modelled timeline of ${this.launch.kernel}, block ${this.core.block}, ` +
      `${this.core.us.toFixed(2)} us; busy: ${busy}. Plus and minus zoom, arrows move.`);
  }

  listen() {
    const {timeline, canvas} = this;
    const on = (name, act, more = {}) => canvas.addEventListener(name, act, {signal: timeline.ending.signal, ...more});
    const down = new Map();
    let moved = 0;
    on("pointerdown", (event) => {
      canvas.focus({preventScroll: true});
      canvas.setPointerCapture(event.pointerId);
      down.set(event.pointerId, event.offsetX);
      moved = 0;
    });
    on("pointermove", (event) => {
      if (!down.has(event.pointerId)) {
        timeline.pick(this.find(event.offsetX, event.offsetY));
        return;
      }
      const before = [...down.values()];
      const by = event.offsetX - down.get(event.pointerId);
      down.set(event.pointerId, event.offsetX);
      moved += Math.abs(by);
      const after = [...down.values()];
      if (after.length === 1) timeline.move(-by / this.scale);
      else {
        const was = Math.abs(before[0] - before[1]), is = Math.abs(after[0] - after[1]);
        if (was > 1 && is > 1) timeline.zoom(was / is, this.time((after[0] + after[1]) / 2));
      }
    });
    const up = (event) => {
      if (down.delete(event.pointerId) && moved < CLICK) timeline.pick(this.find(event.offsetX, event.offsetY));
    };
    on("pointerup", up);
    on("pointercancel", (event) => down.delete(event.pointerId));
    on("dblclick", () => timeline.reset());
    on("wheel", (event) => this.wheel(event), {passive: false});
    on("keydown", (event) => {
      if (!event.ctrlKey && !event.metaKey && !event.altKey && this.key(event)) {
        event.preventDefault();
        event.stopPropagation();  // JupyterLab has commands on some of these keys
      }
    });
    on("focus", () => {
      if (canvas.matches(":focus-visible") && !timeline.picked) this.step(0);
    });
  }

  wheel(event) {
    const {timeline, canvas} = this;
    const asked = event.ctrlKey || event.metaKey;
    if (timeline.options.wheelNeedsFocus && !asked && document.activeElement !== canvas) return;
    const sideways = event.shiftKey ? event.deltaY || event.deltaX : event.deltaX;
    if (event.shiftKey || Math.abs(event.deltaX) > Math.abs(event.deltaY)) timeline.move(sideways / this.scale);
    else {
      // If the view cannot be zoomed out further, the wheel scrolls the page.
      if (event.deltaY > 0 && timeline.isWhole && !asked) return;
      const turns = event.deltaY / (event.deltaMode === 0 ? 100 : 3);
      timeline.zoom(STEP ** Math.max(-3, Math.min(3, turns * (asked ? 3 : 1))), this.time(event.offsetX));
    }
    event.preventDefault();
  }

  key(event) {
    const {timeline} = this, width = timeline.view.end - timeline.view.start;
    const along = {ArrowLeft: -1, ArrowRight: 1}[event.key], across = {ArrowUp: -1, ArrowDown: 1}[event.key];
    if (event.key === "+" || event.key === "=") timeline.zoom(1 / STEP);
    else if (event.key === "-" || event.key === "_") timeline.zoom(STEP);
    else if (along && event.shiftKey) this.step(along);
    else if (along) timeline.move(along * width / 8);
    else if (across) this.turn(across);
    else if (event.key === "Home" || event.key === "0") timeline.reset();
    else if (event.key === "Escape") timeline.pick(null);
    else return false;
    return true;
  }

  // Picks the lane's next instruction (by = 1), the one before (-1) or the first in sight (0), and shows it. If no
  // instruction of the lane is picked, every call picks the first in sight.
  step(by) {
    const {timeline} = this, lane = this.lanes[this.lane], picked = timeline.picked;
    if (!lane.count) return;
    let index = lane.after(timeline.view.start);
    if (by && picked?.row === this && picked.lane === this.lane && picked.kind === "span") index = picked.index + by;
    this.visit(this.lane, Math.min(Math.max(index, 0), lane.count - 1));
  }

  // Picks an instruction, and moves the view if the instruction is out of sight.
  visit(lane, index) {
    const {timeline} = this, {start, end} = timeline.view;
    const from = this.lanes[lane].start[index], to = this.lanes[lane].end[index];
    const width = Math.max(end - start, to - from);
    if (Math.min(to, end) - Math.max(from, start) < Math.min(to - from, 0.05 * (end - start))) {
      timeline.look((from + to - width) / 2, (from + to + width) / 2);
    }
    this.lane = lane;
    timeline.pick({row: this, lane, kind: "span", index});
  }

  // Picks an instruction in the next lane above (by = -1) or below (1) that has instructions, at the time of the picked
  // box, or at the start of the view if this row has no picked box.
  turn(by) {
    const {timeline} = this, picked = timeline.picked?.row === this ? timeline.picked : null;
    const at = picked ? this.laneOf(picked).start[picked.index] : timeline.view.start;
    for (let lane = this.lane + by; lane >= 0 && lane < this.lanes.length; lane += by) {
      if (!this.lanes[lane].count) continue;
      this.visit(lane, Math.min(this.lanes[lane].after(at), this.lanes[lane].count - 1));
      return;
    }
  }

  laneOf(picked) {
    return picked.kind === "issue" ? this.issues : this.lanes[picked.lane];
  }

  // The pixels per microsecond. Below, x() turns a time into a position on the canvas, and time() does the reverse.
  get scale() {
    const {start, end} = this.timeline.view;
    return Math.max(this.canvas.clientWidth - LABEL, 1) / (end - start);
  }

  x(time) {
    return LABEL + (time - this.timeline.view.start) * this.scale;
  }

  time(x) {
    return this.timeline.view.start + (x - LABEL) / this.scale;
  }

  // Returns the box at a point or near it, because a narrow box is hard to hit; else a box whose wait or late data are
  // at the point; else null.
  find(x, y) {
    const lane = Math.floor(y / (LANE + LANE_GAP));
    if (x < LABEL || lane < 0 || lane >= this.lanes.length) return null;
    const at = this.time(x), near = 1.5 / this.scale;
    const kinds = this.pipes[lane].name === "S" ? [["span", this.lanes[lane]], ["issue", this.issues]] : [["span", this.lanes[lane]]];
    let best = null;
    for (const [kind, columns] of kinds) {
      const after = columns.after(at);
      for (let index = Math.max(after - 1, 0); index <= Math.min(after, columns.count - 1); index++) {
        const early = columns.start[index] - (columns.waited ? columns.waited[index] : 0);
        const late = Math.max(columns.end[index], columns.ready ? columns.ready[index] : 0);
        const inside = columns.start[index] - near <= at && at <= columns.end[index] + near;
        const rank = inside ? 0 : early <= at && at < columns.start[index] ? 1 : at <= late && at >= early ? 2 : 3;
        const away = Math.abs((columns.start[index] + columns.end[index]) / 2 - at);
        if (rank < 3 && (!best || rank < best.rank || (rank === best.rank && away < best.away))) {
          best = {row: this, lane, kind, index, rank, away};
        }
      }
    }
    if (best) this.lane = lane;
    return best;
  }

  // Describes a box in an element: instruction, times, bytes, place in the source, and wait.
  say(picked, into) {
    const columns = this.laneOf(picked), {index} = picked, pipe = this.pipes[picked.lane].name;
    const [call, file, line, text] = this.launch.places[columns.place[index]];
    const start = columns.start[index], end = columns.end[index];
    const title = add(into, "div");
    const count = picked.kind === "issue" ? columns.many[index] : 0;
    const what = count ? `S issues ${call}${count > 1 ? ` and ${count - 1} more` : ""}` : `${pipe}: ${call}`;
    add(title, "strong", "", what);
    add(title, "span", "", `  ${us(start)} to ${us(end)} us (${us(end - start)} us)`);
    const moved = columns.bytes?.[index];
    if (moved) add(title, "span", "", `, ${moved.toLocaleString("en")} bytes`);
    if (columns.conflict?.[index] > 1) add(title, "span", "", `, bank conflicts: × ${columns.conflict[index]}`);
    const where = add(into, "div", "", `${file}:${line}`);
    if (text) add(where, "code", "", `   ${text}`);
    const cause = columns.cause?.[index] ?? -1;
    if (cause >= 0) {
      const [name, causeFile, causeLine] = this.launch.causes[cause];
      add(into, "div", "gnt-timeline-wait", `${pipe} waited ${us(columns.waited[index])} us for ${name}` +
        (causeLine ? ` (${causeFile}:${causeLine})` : ""));
    }
    const late = (columns.ready?.[index] ?? end) - end;
    if (late > 0) add(into, "div", "", `its data can be used ${us(late)} us later, at ${us(end + late)} us`);
  }

  draw(theme) {
    const {canvas, timeline} = this, width = canvas.clientWidth, height = canvas.clientHeight;
    const fine = window.devicePixelRatio || 1;
    canvas.width = Math.round(width * fine);
    canvas.height = Math.round(height * fine);
    const context = canvas.getContext("2d");
    context.scale(fine, fine);
    context.font = `12px ${theme.font}`;
    context.textBaseline = "middle";
    this.drawAxis(context, theme, width, height);
    this.lanes.forEach((lane, place) => {
      const top = place * (LANE + LANE_GAP), pipe = this.pipes[place];
      context.globalAlpha = 1;
      context.fillStyle = theme.ink;
      context.fillText(pipe.name, 2, top + LANE / 2, LABEL - 6);
      context.save();
      context.beginPath();
      context.rect(LABEL, top, width - LABEL, LANE);
      context.clip();
      if (pipe.name === "S") this.drawBoxes(context, theme, this.issues, pipe, top + LANE * 0.28, LANE * 0.44, width, false);
      this.drawBoxes(context, theme, lane, pipe, top, LANE, width, true);
      context.restore();
    });
    if (timeline.picked?.row === this) this.drawPicked(context, theme, timeline.picked);
  }

  drawAxis(context, theme, width, height) {
    const {start, end} = this.timeline.view, bottom = height - AXIS;
    context.globalAlpha = GROUND;
    context.fillStyle = theme.ink;
    this.lanes.forEach((_, place) => context.fillRect(LABEL, place * (LANE + LANE_GAP), width - LABEL, LANE));
    context.globalAlpha = 1;
    const step = niceStep((end - start) / Math.max((width - LABEL) / 90, 1));
    const decimals = Math.max(0, -Math.floor(Math.log10(step) + 1e-9));
    context.strokeStyle = theme.line;
    context.fillStyle = theme.ink;
    context.lineWidth = 1;
    for (let count = Math.ceil(start / step); count * step <= end; count++) {
      const x = Math.round(this.x(count * step)) + 0.5, words = (count * step).toFixed(decimals);
      context.globalAlpha = 0.5;
      context.beginPath();
      context.moveTo(x, 0);
      context.lineTo(x, bottom + 3);
      context.stroke();
      context.globalAlpha = 1;
      const half = context.measureText(words).width / 2;
      if (x + half < width) context.fillText(words, x - half, bottom + AXIS / 2 + 1);
    }
    context.fillText("us", 2, bottom + AXIS / 2 + 1);
  }

  // Draws the boxes of a lane that are in sight. Boxes narrower than FINE are merged into columns, more opaque where
  // the pipe was busier. So the work grows with the picture's width, not with the number of instructions.
  drawBoxes(context, theme, lane, pipe, top, height, width, words) {
    const {start, end} = this.timeline.view, scale = this.scale;
    let index = lane.after(start);
    // Data of earlier instructions may still be in flight.
    if (lane.ready) for (let before = Math.max(index - 64, 0); before < index; before++) this.drawLate(context, lane, before, pipe, top, height);
    while (index < lane.count && lane.start[index] - (lane.waited?.[index] ?? 0) < end) {
      const from = this.x(lane.start[index]), to = this.x(lane.end[index]);
      if (lane.waited) this.drawWait(context, theme, lane, index, top, height);
      if (to - from >= FINE) {
        const left = Math.max(from, LABEL - 2), right = Math.min(to, width + 2);
        this.drawLate(context, lane, index, pipe, top, height);
        context.globalAlpha = 1;
        context.fillStyle = pipe.colour;
        context.fillRect(left, top, right - left, height);
        // The line is a seam between neighbours, and an outline on a dark ground.
        context.strokeStyle = theme.line;
        context.lineWidth = 1;
        if (right - left > 4) context.strokeRect(left + 0.5, top + 0.5, right - left - 1, height - 1);
        this.drawRim(context, theme, pipe, left, right - left, top, height);
        if (words) this.writeIn(context, pipe, lane, index, left, right, top, height);
        index += 1;
        continue;
      }
      const column = Math.floor(from), stop = this.time(column + FINE);
      let next = Math.max(lane.from(stop), index + 1);
      if (next - 1 > index && (lane.end[next - 1] - lane.start[next - 1]) * scale >= FINE) next -= 1;
      const busy = lane.busy(index, next) * scale / FINE;
      context.globalAlpha = Math.min(0.5 + 0.5 * busy, 1);
      context.fillStyle = pipe.colour;
      context.fillRect(column, top, FINE, height);
      this.drawRim(context, theme, pipe, column, FINE, top, height);
      index = next;
    }
    context.globalAlpha = 1;
  }

  drawRim(context, theme, pipe, left, width, top, height) {
    if (!theme.rims.has(pipe)) return;
    context.fillStyle = theme.faint;
    context.fillRect(left, top, width, 1);
    context.fillRect(left, top + height - 1, width, 1);
  }

  drawLate(context, lane, index, pipe, top, height) {
    if (!lane.ready || lane.ready[index] <= lane.end[index]) return;
    const from = this.x(lane.end[index]), to = this.x(lane.ready[index]);
    if (to - from < 1) return;
    context.globalAlpha = 0.75;
    context.fillStyle = pipe.colour;
    context.fillRect(from, top + height - 7, to - from, 4);  // below the words of a wait
    context.globalAlpha = 1;
  }

  drawWait(context, theme, lane, index, top, height) {
    if (lane.cause[index] < 0) return;
    const from = Math.max(this.x(lane.start[index] - lane.waited[index]), LABEL);
    const to = Math.min(this.x(lane.start[index]), this.canvas.clientWidth);
    if (to - from < 6) return;
    context.save();
    context.globalAlpha = 1;
    context.setLineDash([3, 3]);
    context.strokeStyle = theme.faint;
    context.strokeRect(from + 1.5, top + height * 0.25, to - from - 3, height * 0.5);
    context.restore();
    const [name, file, line] = this.launch.causes[lane.cause[index]];
    context.globalAlpha = 1;
    context.fillStyle = theme.ink;
    const all = [`waits for ${name}${line ? `, ${file}:${line}` : ""}`, `waits for ${name}`, `for ${name}`];
    write(context, all, from, to, top + height * 0.5);
  }

  writeIn(context, pipe, lane, index, left, right, top, height) {
    const [call, file, line] = this.launch.places[lane.place[index]];
    context.fillStyle = pipe.ink;
    write(context, [call], left, right, top + height / 2 - 8);
    write(context, [`${file}:${line}`], left, right, top + height / 2 + 8);
  }

  drawPicked(context, theme, picked) {
    const lane = this.laneOf(picked), top = picked.lane * (LANE + LANE_GAP);
    const from = Math.max(this.x(lane.start[picked.index]), LABEL), to = Math.max(this.x(lane.end[picked.index]), from + 2);
    context.strokeStyle = theme.focus;
    context.lineWidth = 2;
    context.strokeRect(from - 1, top + 1, to - from + 2, LANE - 2);
  }
}

// The columns of one lane, as arrays that are quick to search. Entries are in order of time and do not overlap.
class Lane {
  constructor(columns) {
    this.count = columns.start.length;
    for (const name of ["start", "end", "ready", "waited", "bytes", "conflict"]) {
      if (columns[name]) this[name] = Float64Array.from(columns[name]);
    }
    for (const name of ["place", "cause"]) if (columns[name]) this[name] = Int32Array.from(columns[name]);
    if (columns.count) this.many = Int32Array.from(columns.count);
    // latest: when the last result is ready. sums: for each entry, the time that all entries before it take together.
    this.latest = (this.ready ?? this.end).reduce((most, one) => Math.max(most, one), 0);
    this.sums = new Float64Array(this.count + 1);
    for (let index = 0; index < this.count; index++) {
      this.sums[index + 1] = this.sums[index] + this.end[index] - this.start[index];
    }
  }

  // after() returns the index of the first entry that ends after a time. from() returns the index of the first entry
  // that starts at this time or later.
  after(time) {
    return search(this.count, (index) => this.end[index] > time);
  }

  from(time) {
    return search(this.count, (index) => this.start[index] >= time);
  }

  // Returns the microseconds that the entries first to stop - 1 take together.
  busy(first, stop) {
    return this.sums[stop] - this.sums[first];
  }
}

// Returns the first index below count for which holds() is true, or count if there is none. holds() must be true for
// all later indices too.
function search(count, holds) {
  let low = 0, high = count;
  while (low < high) {
    const middle = (low + high) >> 1;
    if (holds(middle)) high = middle;
    else low = middle + 1;
  }
  return low;
}

// Writes the first text of words that fits between left and right, in their middle. Returns whether one fits.
function write(context, words, left, right, y) {
  for (const one of words) {
    const width = context.measureText(one).width;
    if (width + 6 <= right - left) {
      context.fillText(one, (left + right - width) / 2, y);
      return true;
    }
  }
  return false;
}

// Returns the smallest step of 1, 2 or 5 times a power of ten that is not below least.
function niceStep(least) {
  const power = 10 ** Math.floor(Math.log10(least));
  return [1, 2, 5, 10].map((one) => one * power).find((step) => step >= least * 0.999);
}

// Returns red, green and blue, 0 to 255, of a CSS colour. A canvas is used because it parses every CSS notation.
function rgb(colour) {
  const context = (rgb.canvas ??= document.createElement("canvas")).getContext("2d", {willReadFrequently: true});
  context.clearRect(0, 0, 1, 1);
  context.fillStyle = colour;
  context.fillRect(0, 0, 1, 1);
  return [...context.getImageData(0, 0, 1, 1).data.slice(0, 3)];
}

function mixed(one, other, share) {
  return one.map((part, place) => part * (1 - share) + other[place] * share);
}

// Returns the contrast of two colours, as WCAG 2 defines it: 1 for the same, 21 for black and white.
function contrast(one, other) {
  const [low, high] = [one, other].map((parts) => {
    const [red, green, blue] = parts.map((part) => {
      const share = part / 255;
      return share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4;
    });
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue;
  }).sort((a, b) => a - b);
  return (high + 0.05) / (low + 0.05);
}

function us(time) {
  return time.toFixed(3);
}

function add(parent, tag, name = "", text = "") {
  const made = parent.appendChild(document.createElement(tag));
  if (name) made.className = name;
  if (text) made.textContent = text;
  return made;
}
