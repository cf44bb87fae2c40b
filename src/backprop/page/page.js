// The page: steps, lights, paths and sliders on top of the tables and the picture that stand in the page already.
// `root` is the element of the trace; `evaluate` works it out again at other inputs, null where nothing can.
function start(root, evaluate) {
  const find = (selector) => root.querySelector(selector);
  const all = (selector) => [...root.querySelectorAll(selector)];
  const data = JSON.parse(find("script[type='application/json']").textContent);
  const { nodes, edges, paths } = data;
  const D = "\u2202", DOT = " \u00b7 ", NO_VALUE = "no value here", NOT_TAKEN = "branch not taken";
  const number = (told) => (typeof told === "string" ? Number(told) : told);  // JSON has no number for NaN and inf
  for (const node of nodes) {
    [node.v, node.s, node.k] = [number(node.v), number(node.s), node.k ?? true];
    node.g = node.f && node.f.map((piece) => (typeof piece === "string" ? piece : nodes[piece[0]].id)).join("");
  }
  for (const edge of edges) [edge.p, edge.b, edge.c] = [number(edge.p) ?? null, edge.b ?? edge.r, edge.c ?? true];
  for (const edge of edges) edge.o ??= 0;
  const isPage = root.hasAttribute("data-page");

  // -- numbers as text: Python's %.6g, whole numbers as they are ---------------------------------------------------

  function figure(value) {
    if (value === null || value === undefined) return "";
    if (typeof value === "boolean") return String(value);
    if (Number.isNaN(value)) return "NaN";
    if (!Number.isFinite(value)) return value > 0 ? "inf" : "-inf";
    if (Number.isInteger(value) && Math.abs(value) < 1e15) return String(value + 0);
    return general(value, data.figures);
  }

  function general(value, digits) {
    let [mantissa, power] = value.toExponential(digits - 1).split("e");
    // Python rounds what is exactly half way to the even digit, JavaScript away from 0
    const [exact, exactPower] = value.toExponential(60).split("e");
    const place = exact.indexOf(".") + digits;
    if (/^50*$/.test(exact.slice(place)) && "02468".includes(exact[digits === 1 ? place - 2 : place - 1])) {
      mantissa = exact.slice(0, digits === 1 ? place - 1 : place);
      power = exactPower;
    }
    const exponent = Number(power);
    if (exponent < -4 || exponent >= digits) {
      const short = mantissa.includes(".") ? mantissa.replace(/\.?0+$/, "") : mantissa;
      const size = String(Math.abs(exponent)).padStart(2, "0");
      return `${short}e${exponent < 0 ? "-" : "+"}${size}`;
    }
    const sign = mantissa.startsWith("-") ? "-" : "";
    const figures = mantissa.replace(/[-.]/g, "");
    if (exponent < 0) return `${sign}0.${"0".repeat(-exponent - 1)}${figures}`.replace(/\.?0+$/, "");
    const whole = figures.slice(0, exponent + 1), rest = figures.slice(exponent + 1).replace(/0+$/, "");
    return sign + whole + (rest ? `.${rest}` : "");
  }

  // -- the state -----------------------------------------------------------------------------------------------------

  const told = { mode: data.mode, by: data.by };  // what the trace itself tells
  const first = new Map(data.inputs.map((node) => [node, nodes[node].v]));
  const inputs = new Map(first);
  let mode = told.mode, by = told.by, step = 0, path = -1, edgeShown = -1;
  let steps = [], numbers = null;
  const isMoved = () => [...inputs].some(([node, value]) => !Object.is(value, first.get(node)));
  const isAsTold = () => !isMoved() && mode === told.mode && (mode === "reverse" || by === told.by);

  const leaving = nodes.map(() => []), arriving = nodes.map(() => []);
  edges.forEach((edge, place) => {
    if (!edge.c) return;
    leaving[edge.s].push(place);
    arriving[edge.t].push(place);
  });

  // -- values, partials, and adjoints or tangents at the inputs ----------------------------------------------------

  function work() {
    const found = { values: nodes.map((node) => node.v), partials: edges.map((edge) => edge.p), slopes: null };
    found.taken = nodes.map((node) => node.k);
    let adjoints = told.mode === "reverse" ? nodes.map((node) => node.s) : null;
    if (isMoved()) {
      const made = evaluate(given(inputs));
      found.values = made.values;
      found.taken = made.values.map((value) => value !== null);
      found.partials = made.partials.map((partial, place) => (edges[place].c ? partial : null));
      adjoints = adjoints && made.adjoints;
    }
    if (mode === "reverse") found.slopes = adjoints || adjointsOf(found.partials);
    else if (isAsTold()) found.slopes = nodes.map((node) => node.s);
    else found.slopes = tangentsOf(found.partials);
    return found;
  }

  const given = (values) => data.inputs.map((node) => values.get(node));

  function adjointsOf(partials) {
    const found = nodes.map(() => null);
    found[data.output] = 1;
    for (let node = nodes.length - 1; node >= 0; node--) {
      for (const edge of leaving[node]) {
        const above = found[edges[edge].t];
        if (above !== null) found[node] = (found[node] || 0) + above * partials[edge];
      }
    }
    return found;
  }

  function tangentsOf(partials) {
    const found = nodes.map(() => null);  // what does not move has none
    found[by] = 1;
    nodes.forEach((_, node) => {
      if (node === by) return;
      for (const edge of arriving[node]) {
        const below = found[edges[edge].s];
        if (below !== null) found[node] = (found[node] ?? 0) + (partials[edge] === null ? NaN : partials[edge] * below);
      }
    });
    return found;
  }

  const brought = (edge) => {
    const partial = numbers.partials[edge];
    const carried = numbers.slopes[mode === "reverse" ? edges[edge].t : edges[edge].s];
    return partial === null || carried === null || !edges[edge].c ? null : partial * carried;
  };

  // -- lines of working: formula = numbers put in = value ------------------------------------------------------------

  const slope = (above, below) => `${D}${nodes[above].id}/${D}${nodes[below].id}`;
  const moving = (node) => (mode === "reverse" ? slope(data.output, node) : slope(node, by));
  const bracketed = (text) => (text.startsWith("-") ? `(${text})` : text);
  const isNumber = (text) => /^-?(?:\d+(?:\.\d*)?(?:[eE][+-]?\d+)?|inf|NaN)$/.test(text);

  function line(left, chain, rules, puts, value, remark) {
    const parts = [left];
    for (const terms of [chain, rules, puts]) {
      const text = terms.join(" + ");
      if (text && text !== parts[parts.length - 1]) parts.push(text);
    }
    if (value && (value !== parts[parts.length - 1] || parts.length === 1)) parts.push(value);
    if (!value && remark !== NOT_TAKEN) remark = remark ? `${NO_VALUE}; ${remark}` : NO_VALUE;
    return parts.join(" = ") + (remark ? `   (${remark})` : "");
  }

  // numbers stand in a formula for its names, in brackets where they need them
  function putIn(node) {
    return nodes[node].f.map((piece) => {
      if (typeof piece === "string") return piece;
      const text = valueText(piece[0]);
      return text === NO_VALUE || text === NOT_TAKEN ? nodes[piece[0]].id : piece[1] ? bracketed(text) : text;
    }).join("");
  }

  function valueText(node) {
    if (!numbers.taken[node]) return NOT_TAKEN;
    const value = numbers.values[node];
    if (value === null || value === undefined || (Number.isNaN(value) && !data.propagates)) return NO_VALUE;
    return figure(value);
  }

  function forwardLine(node) {
    const value = valueText(node);
    if (!numbers.taken[node]) return line(nodes[node].id, [], [nodes[node].g], [], "", NOT_TAKEN);
    return line(nodes[node].id, [], [nodes[node].g], [putIn(node)], value === NO_VALUE ? "" : value, "");
  }

  // one edge as a term of a sum: by its rule, and by numbers
  function term(edge, isFirst) {
    const { r, b } = edges[edge];
    const partial = figure(numbers.partials[edge]) || "undefined";
    const rule = r || partial, factor = r ? b : bracketed(partial);
    const carried = figure(numbers.slopes[mode === "reverse" ? edges[edge].t : edges[edge].s]) || "undefined";
    const [front, plain, back] = mode === "reverse"
      ? [isFirst ? carried : bracketed(carried), factor, bracketed(partial)]
      : [isFirst && isNumber(rule) ? rule : factor, bracketed(carried), bracketed(carried)];
    const put = mode === "reverse" ? front : isFirst ? partial : bracketed(partial);
    return [`${front}${DOT}${plain}`, `${put}${DOT}${back}`];
  }

  function edgeName(edge, among) {
    const { s, t, o } = edges[edge];
    const others = among.filter((other) => edges[other].s === s && edges[other].t === t);
    return slope(t, s) + (others.length > 1 ? ` #${o + 1}` : "");
  }

  const chainOf = (edge, among) => {
    const name = edgeName(edge, among);
    return mode === "reverse" ? `${moving(edges[edge].t)}${DOT}${name}` : `${name}${DOT}${moving(edges[edge].s)}`;
  };

  const COUNTS = ["no", "one", "two", "three", "four", "five", "six", "seven", "eight", "nine"];

  function meeting(node, among) {
    if (among.length < 2) return "";
    const target = edges[among[0]].t;
    if (among.every((edge) => edges[edge].t === target)) {
      const places = among.map((edge) => edges[edge].o + 1);
      return `${nodes[node].id} is operand ${places.slice(0, -1).join(", ")} and ${places[places.length - 1]} of ` +
        `${nodes[target].id}: add`;
    }
    return `${COUNTS[among.length] || among.length} edges meet here: add`;
  }

  function withGap(texts) {
    if (texts.length <= 100) return texts;
    return [...texts.slice(0, 4), `\u2026 ${texts.length - 8} more \u2026`, ...texts.slice(-4)];
  }

  function sumLine(node, among, remark) {
    const terms = among.map((edge, place) => term(edge, place === 0));
    const value = figure(numbers.slopes[node]);
    return line(moving(node), withGap(among.map((edge) => chainOf(edge, among))), withGap(terms.map((one) => one[0])),
      withGap(terms.map((one) => one[1])), value, remark);
  }

  function reverseLine(node) {
    const found = leaving[node].filter((edge) => numbers.slopes[edges[edge].t] !== null);
    let terms = found.filter((edge) => numbers.partials[edge] !== null);
    if (numbers.slopes[node] === null && found.length) terms = found;
    if (terms.length) return sumLine(node, terms, meeting(node, terms));
    const remark = node === data.output ? "" : `${nodes[data.output].id} does not depend on ${nodes[node].id}`;
    return line(moving(node), [], [], [], figure(numbers.slopes[node]), remark);
  }

  function tangentLine(node) {
    const terms = arriving[node].filter((edge) => numbers.partials[edge] !== null && numbers.slopes[edges[edge].s]);
    if (terms.length) return sumLine(node, terms, "");
    const moves = node === by || numbers.slopes[node];
    const remark = moves ? "" : `${nodes[node].id} does not move with ${nodes[by].id}`;
    return line(moving(node), [], [], [], figure(numbers.slopes[node]) || "0", remark);
  }

  function written() {
    const found = [];
    nodes.forEach((node, place) => {
      if (!node.f || !numbers.taken[place]) return;
      found.push({ phase: "forward", node: place, edge: -1, text: forwardLine(place) });
      if (mode === "forward" && numbers.slopes[place] !== null) {
        found.push({ phase: "tangent", node: place, edge: -1, text: tangentLine(place) });
      }
    });
    if (mode === "forward") return found;
    for (let node = nodes.length - 1; node >= 0; node--) {
      const out = leaving[node], phase = "reverse";
      if (numbers.slopes[node] === null && !out.length) continue;
      if (out.length === 1) {
        found.push({ phase, node, edge: out[0], text: reverseLine(node) });
        continue;
      }
      for (const edge of out) {
        const [rule, put] = term(edge, true);
        const text = line(chainOf(edge, out), [], [rule], [put], figure(brought(edge)), "");
        found.push({ phase, node, edge, text });
      }
      if (numbers.taken[node]) found.push({ phase, node, edge: -1, text: reverseLine(node) });
    }
    return found;
  }

  // -- what the trace itself tells, read from the page, and what stands there now ------------------------------------

  const stepList = find(".bp-steps");
  const toldSteps = data.steps.map(([phase, node, edge = -1], place) => ({
    phase: ["forward", "reverse", "tangent"][phase], node, edge, text: stepList.children[place].textContent,
  }));
  // rows stand in the order of nodes, of edges that carry a derivative, and of paths; cells as `keys` has them
  function rows(name, what, order, keys) {
    all(`.bp-${name} tbody tr:not(.bp-group)`).forEach((row, place) => {
      const one = order ? order[place] : place, cells = [...row.cells].slice(-keys.length);
      row.dataset[what] = one;
      cells.forEach((cell, at) => { cell.dataset.k = keys[at] + one; });
    });
  }
  rows("nodes", "node", null, "vs");
  rows("edges", "edge", edges.map((_, place) => place).filter((place) => edges[place].c), "pc");
  rows("paths", "path", null, data.live ? "mtr" : "");
  all(".bp-boxes > g").forEach((shape, place) => { shape.dataset.node = place; });
  all(".bp-arrows > g").forEach((shape, place) => {
    shape.dataset.edge = place;
    shape.querySelectorAll("text:not([class])").forEach((line, at) => { line.dataset.k = (at ? "x" : "P") + place; });
  });
  const places = all("[data-k]").map((element) => ({
    element, what: element.dataset.k[0], place: Number(element.dataset.k.slice(1)), text: element.textContent,
  }));

  function pathTerm(place) {
    return paths[place].e.reduce((product, edge) => product * numbers.partials[edge], 1) + 0;
  }

  function pathSum(place) {
    let begin = place;
    while (begin > 0 && paths[begin - 1].s === paths[place].s) begin--;
    let sum = 0;
    for (let one = begin; one <= place; one++) sum += pathTerm(one);
    return sum;
  }

  function product(place) {
    const factors = paths[place].e.map((edge, at) => {
      const text = figure(numbers.partials[edge]);
      return at ? bracketed(text) : text;
    });
    return factors.join(DOT);
  }

  const orNone = (text) => text || NO_VALUE;
  const TEXTS = {
    v: (node) => valueText(node),
    V: (node) => ([NO_VALUE, NOT_TAKEN].includes(valueText(node)) ? valueText(node) : `value ${valueText(node)}`),
    s: (node) => figure(numbers.slopes[node]),
    S: (node) => (numbers.slopes[node] === null ? "" : `${moving(node)} = ${figure(numbers.slopes[node])}`),
    g: (node) => orNone(figure(mode === "reverse" ? numbers.slopes[node] : gradientOf(node))),
    p: (edge) => figure(numbers.partials[edge]),
    P: (edge) => label(edge),
    c: (edge) => figure(brought(edge)),
    m: (place) => product(place),
    t: (place) => figure(pathTerm(place)),
    r: (place) => figure(pathSum(place)),
    x: () => "",
    h: () => (mode === "reverse" ? "adjoint" : "tangent"),
    H: () => (mode === "reverse" ? "brings back" : "brings on"),
  };

  function gradientOf(node) {
    return (told.mode === "forward" ? adjointsOf(numbers.partials) : nodes.map((_, place) => adjointAt(place)))[node];
  }

  let adjointsNow = null;
  function adjointAt(node) {
    adjointsNow ??= adjointsOf(numbers.partials);
    return adjointsNow[node];
  }

  function label(edge) {
    const number = figure(numbers.partials[edge]), rule = edges[edge].r;
    if (!rule || rule === number) return number;
    return number ? `${rule} = ${number}` : rule;
  }

  // -- writing it into the page ---------------------------------------------------------------------------------------

  function refresh() {
    numbers = data.live ? work() : null;
    adjointsNow = null;
    const asTold = isAsTold();
    for (const { element, what, place, text } of places) {
      // values, partials and paths are as told while no input has moved, whatever the mode
      const stays = asTold || (!isMoved() && !"sSchH".includes(what));
      const now = stays ? text : TEXTS[what](place);
      if (element.textContent !== now) {
        element.textContent = now;
        fit(element);
      }
    }
    steps = asTold ? toldSteps : written();
    const items = steps.map((one, place) => item(one, place));
    stepList.replaceChildren(...items);
    root.classList.toggle("bp-moved", isMoved());
    root.classList.toggle("bp-forward", mode === "forward");
    step = Math.min(step, steps.length);
    if (find(".bp-slider")) find(".bp-slider").max = steps.length;
    show(step, false);
    if (path >= 0) showPath(path);
    if (edgeShown >= 0) showEdge(edgeShown);
    for (const element of all("svg [data-edge]")) element.setAttribute("aria-label", edgeText(Number(element.dataset.edge)));
    for (const element of all(".bp-state")) element.textContent = isMoved() ? data.movedText : data.agreesText;
  }

  // text in the picture that has grown beyond its box is set closer
  function fit(element) {
    const box = element.parentNode.querySelector?.("rect"), room = box ? box.width.baseVal.value - 10 : 0;
    if (!room) return;
    element.removeAttribute("textLength");
    if (element.getComputedTextLength && element.getComputedTextLength() > room) {
      element.setAttribute("textLength", room);
      element.setAttribute("lengthAdjust", "spacingAndGlyphs");
    }
  }

  function item(one, place) {
    const element = document.createElement("li");
    element.textContent = one.text;
    element.dataset.at = place + 1;
    return element;
  }

  // -- steps ------------------------------------------------------------------------------------------------------------

  const PHASES = { forward: "value of", reverse: `${D}${nodes[data.output].id} by`, tangent: "tangent of" };

  function show(position, isAsked = true) {
    step = Math.max(0, Math.min(position, steps.length));
    const now = step ? steps[step - 1] : null;
    find(".bp-where").textContent = now
      ? `Step ${step} of ${steps.length}: ${now.phase === "reverse" ? "adjoint of" : PHASES[now.phase]} ${nodes[now.node].id}`
      : `${steps.length} steps`;
    find(".bp-line").replaceChildren(...broken(now ? now.text : data.begin));
    const slider = find(".bp-slider");
    slider.value = step;
    slider.setAttribute("aria-valuetext", step ? `step ${step} of ${steps.length}` : "the whole picture");
    all("[data-go]").forEach((button) => {
      const isBack = ["first", "back"].includes(button.dataset.go);
      button.setAttribute("aria-disabled", isBack ? step === 0 : step === steps.length);
    });
    all(".bp-steps > li").forEach((element, place) => {
      if (place === step - 1) element.setAttribute("aria-current", "step");
      else element.removeAttribute("aria-current");
    });
    const current = find(".bp-steps > [aria-current]");
    if (current && stepList.scrollHeight > stepList.clientHeight) {
      stepList.scrollTop = current.offsetTop - stepList.offsetTop - stepList.clientHeight / 2;
    }
    light(now);
    const link = find(".bp-link");
    if (link) {
      link.href = `#step=${step}`;
      if (isAsked) history.replaceState(null, "", step ? `#step=${step}` : location.pathname + location.search);
    }
  }

  function broken(text) {
    return text.split(" = ").map((part, place) => {
      const span = document.createElement("span");
      span.textContent = place ? ` = ${part}` : part;
      return span;
    });
  }

  function light(now) {
    const lit = new Set(), litEdges = new Set();
    let place = -1, phase = "";
    if (now) {
      ({ node: place, phase } = now);
      const around = phase === "reverse" ? leaving[place] : arriving[place];
      for (const edge of now.edge >= 0 ? [now.edge] : around) litEdges.add(edge);
      lit.add(place);
    }
    const after = step < steps.length ? steps[step] : null;
    const isLast = !after || !now || after.node !== place || after.phase !== phase;
    const isReverse = mode === "reverse";
    const hasValue = (node) => !now || phase === "reverse" || !nodes[node].f || node <= place;
    const hasSlope = (node) => {
      if (!now) return true;
      if (isReverse) return phase === "reverse" && (node > place || (node === place && isLast));
      return !nodes[node].f || node < place || (node === place && phase === "tangent");
    };
    const hasPartial = (edge) => {
      if (!now || !edges[edge].c) return true;
      if (!isReverse) return hasSlope(edges[edge].t);
      if (phase !== "reverse" || edges[edge].s !== place || isLast) return hasSlope(edges[edge].s);
      return leaving[place].indexOf(edge) <= leaving[place].indexOf(now.edge);
    };
    for (const { element, what, place: at } of places) {
      const known = "vV".includes(what) ? hasValue(at) : "sS".includes(what) ? hasSlope(at)
        : what === "c" ? hasPartial(at) : "pP".includes(what) ? hasPartial(at) : true;
      element.classList.toggle("bp-later", !known);
    }
    all("[data-node]").forEach((element) => {
      element.classList.toggle("bp-lit", lit.has(Number(element.dataset.node)));
    });
    all("[data-edge]").forEach((element) => {
      element.classList.toggle("bp-lit", litEdges.has(Number(element.dataset.edge)));
    });
    mark(now ? nodes[place].span : null);
    inSight(place);
  }

  // the part of the program that the step is about
  const program = find(".bp-program");
  const letters = Array.from(program.textContent);

  function mark(span) {
    if (!span) {
      program.replaceChildren(letters.join(""));
      return;
    }
    const marked = document.createElement("mark");
    marked.textContent = letters.slice(...span).join("");
    program.replaceChildren(letters.slice(0, span[0]).join(""), marked, letters.slice(span[1]).join(""));
  }

  // a large graph is moved inside its box, the page stays
  function inSight(node) {
    const box = find(".bp-picture"), element = find(`svg [data-node="${node < 0 ? data.output : node}"]`);
    if (!element || (box.scrollWidth <= box.clientWidth && box.scrollHeight <= box.clientHeight)) return;
    const a = box.getBoundingClientRect(), b = element.getBoundingClientRect();
    if (b.left < a.left || b.right > a.right) box.scrollLeft += (b.left + b.right - a.left - a.right) / 2;
    if (b.top < a.top || b.bottom > a.bottom) box.scrollTop += (b.top + b.bottom - a.top - a.bottom) / 2;
  }

  const GO = { first: () => 0, back: () => step - 1, on: () => step + 1, last: () => steps.length };
  all("[data-go]").forEach((button) => button.addEventListener("click", () => show(GO[button.dataset.go]())));
  find(".bp-slider").addEventListener("input", (event) => show(Number(event.target.value)));
  stepList.addEventListener("click", (event) => {
    const chosen = event.target.closest("li");
    if (chosen && !String(getSelection())) show(Number(chosen.dataset.at));
  });

  const KEYS = { ArrowLeft: "back", ArrowRight: "on", Home: "first", End: "last" };
  (isPage ? document : root).addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.altKey || event.metaKey || event.shiftKey) return;
    if (event.target.closest?.("input, select, textarea") || !(event.key in KEYS)) return;
    event.preventDefault();
    show(GO[KEYS[event.key]]());
  });

  function fromLink() {
    const asked = /^#step=(\d+)$/.exec(location.hash);
    if (asked) show(Number(asked[1]), false);
  }

  // -- edges ------------------------------------------------------------------------------------------------------------

  const edgeLine = find(".bp-edge-line");

  function edgeText(edge) {
    if (!data.live) return data.says[edge];
    const { s: from, t: to } = edges[edge];
    if (!edges[edge].c) return `${nodes[to].id} reads ${nodes[from].id}; no derivative passes here`;
    const among = leaving[from];
    const parts = [edgeName(edge, among), edges[edge].r, figure(numbers.partials[edge]) || NO_VALUE];
    const one = term(edge, true)[1], made = figure(brought(edge));
    const where = mode === "reverse" ? `back to ${nodes[from].id}` : `on to ${nodes[to].id}`;
    const shown = parts.filter((part, place) => part && part !== parts[place - 1]).join(" = ");
    return made ? `${shown}; it brings ${one} = ${made} ${where}` : shown;
  }

  function showEdge(edge) {
    edgeShown = edge;
    all("[data-edge]").forEach((element) => {
      element.classList.toggle("bp-shown", Number(element.dataset.edge) === edge);
    });
    edgeLine.textContent = edge >= 0 ? edgeText(edge) : data.hint;
  }

  for (const element of all("[data-edge]")) {
    const edge = Number(element.dataset.edge);
    element.addEventListener("pointerenter", () => showEdge(edge));
    if (!(element instanceof SVGElement)) continue;
    element.setAttribute("tabindex", "0");
    element.setAttribute("role", "img");
    const wide = element.querySelector("path").cloneNode();
    wide.setAttribute("class", "bp-hit");
    element.append(wide);
    element.addEventListener("focus", () => showEdge(edge));
  }

  // -- paths ------------------------------------------------------------------------------------------------------------

  function showPath(place) {
    path = place;
    const chosen = place >= 0 ? new Set(paths[place].e) : new Set();
    const ends = new Set([...chosen].flatMap((edge) => [edges[edge].s, edges[edge].t]));
    find("svg")?.classList.toggle("bp-has-path", place >= 0);
    all("[data-edge]").forEach((element) => {
      element.classList.toggle("bp-path", chosen.has(Number(element.dataset.edge)));
    });
    all("[data-node]").forEach((element) => {
      element.classList.toggle("bp-path", ends.has(Number(element.dataset.node)));
    });
    all("[data-path]").forEach((row) => {
      const button = row.querySelector("button"), isHere = Number(row.dataset.path) === place;
      row.classList.toggle("bp-lit", isHere);
      button?.setAttribute("aria-pressed", isHere);
    });
    const says = find(".bp-path-line"), bar = find(".bp-bar");
    if (!says) return;
    if (place < 0) {
      says.textContent = "";
      bar?.replaceChildren();
      return;
    }
    const [, way, product, term, sum] = [...find(`[data-path="${place}"]`).cells].map((cell) => cell.textContent);
    says.textContent = `${way}: ${product}` + (term ? ` = ${term}, the sum so far ${sum}` : "");
    if (bar && data.live) fill(bar, place);
  }

  // each path is a piece as long as its term is large; those up to this one are filled
  function fill(bar, place) {
    const same = paths.map((_, one) => one).filter((one) => paths[one].s === paths[place].s);
    bar.hidden = same.length < 2;
    bar.replaceChildren(...same.map((one) => {
      const piece = document.createElement("span"), value = pathTerm(one);
      piece.style.flexGrow = Number.isFinite(value) ? Math.abs(value) : 0;
      piece.className = `${one <= place ? "bp-filled" : ""} ${one === place ? "bp-last" : ""} ${value < 0 ? "bp-minus" : ""}`;
      piece.title = figure(value);
      return piece;
    }));
  }

  all("[data-path]").forEach((row) => {
    const place = Number(row.dataset.path), cell = row.cells[0], button = document.createElement("button");
    button.type = "button";
    button.textContent = cell.textContent;
    button.setAttribute("aria-label", `Show path ${cell.textContent}`);
    button.setAttribute("aria-pressed", "false");
    button.addEventListener("click", () => showPath(path === place ? -1 : place));
    cell.replaceChildren(button);
  });
  const PATHS = { back: () => Math.max(0, path - 1), on: () => Math.min(paths.length - 1, path + 1), none: () => -1 };
  all("[data-way]").forEach((button) => button.addEventListener("click", () => showPath(PATHS[button.dataset.way]())));

  // -- forward and reverse ----------------------------------------------------------------------------------------------

  const chosenInput = find(".bp-by");

  function choose(nextMode, nextBy) {
    mode = nextMode;
    by = nextBy;
    step = 0;
    all("[data-mode]").forEach((button) => button.setAttribute("aria-pressed", button.dataset.mode === mode));
    if (chosenInput) chosenInput.closest("label").hidden = mode !== "forward";
    refresh();
    show(0);
  }

  all("[data-mode]").forEach((button) => button.addEventListener("click", () => choose(button.dataset.mode, by)));
  chosenInput?.addEventListener("change", () => choose(mode, Number(chosenInput.value)));

  // -- sliders ----------------------------------------------------------------------------------------------------------

  function setInput(node, value, from) {
    inputs.set(node, value);
    for (const field of all(`[data-input="${node}"]`)) if (field !== from) field.value = value;
    const range = find(`input[type=range][data-input="${node}"]`);
    if (range && (value < Number(range.min) || value > Number(range.max))) {
      range.min = Math.min(value, Number(range.min));
      range.max = Math.max(value, Number(range.max));
      range.value = value;
    }
    refresh();
  }

  // a slider and a field for each number that can be moved
  function inputFields() {
    find(".bp-inputs ul").append(...data.inputs.map((node) => {
      const one = document.createElement("li"), name = document.createElement("code");
      name.textContent = nodes[node].id;
      if (nodes[node].param) one.className = "bp-param";
      one.append(name, ...["range", "number"].map((type) => {
        const field = document.createElement("input");
        Object.assign(field, { type, step: "any", disabled: true });
        field.setAttribute("aria-label", nodes[node].id + (type === "range" ? ", slider" : ""));
        field.dataset.input = node;
        return field;
      }));
      return one;
    }));
  }

  function sliders() {
    for (const field of all("[data-input]")) {
      const node = Number(field.dataset.input), begin = first.get(node), room = 2 * Math.max(1, Math.abs(begin));
      const grain = 10 ** Math.floor(Math.log10(room / 40));
      if (field.type === "range") {
        field.min = begin - room;
        field.max = begin + room;
        field.addEventListener("keydown", (event) => {
          const way = { ArrowLeft: -1, ArrowDown: -1, ArrowRight: 1, ArrowUp: 1 }[event.key];
          if (!way) return;
          event.preventDefault();
          setInput(node, near(inputs.get(node) + way * grain, grain), null);
        });
      }
      field.value = begin;
      field.disabled = false;
      field.addEventListener("input", () => {
        const value = field.value.trim() === "" ? NaN : Number(field.value);
        field.setAttribute("aria-invalid", !Number.isFinite(value));
        if (Number.isFinite(value)) setInput(node, field.type === "range" ? near(value, grain) : value, field);
      });
    }
    find(".bp-reset")?.addEventListener("click", () => {
      for (const [node, value] of first) {
        inputs.set(node, value);
        all(`[data-input="${node}"]`).forEach((field) => {
          field.value = value;
          field.setAttribute("aria-invalid", "false");
        });
      }
      refresh();
    });
  }

  const near = (value, grain) => Number((Math.round(value / grain) * grain).toPrecision(12));

  // -- the evaluator against the trace ----------------------------------------------------------------------------------

  function mismatches() {
    const made = evaluate(given(first)), found = [];
    const largest = nodes.reduce((size, node) => Math.max(size, Math.abs(Number(node.v)) || 0), 0);
    const same = (a, b) => Object.is(a + 0, b + 0) || a === b ||
      Math.abs(a - b) <= 1e-9 * Math.max(Math.abs(a), Math.abs(b)) + (Number.isFinite(largest) ? 1e-13 * largest : 0);
    const compare = (what, trace, page) => {
      if (trace !== null && !same(Number(trace), Number(page))) found.push(`${what}: ${page} here, ${trace} in the trace`);
    };
    nodes.forEach((node, place) => {
      if (!node.m) compare(node.id, node.v, made.values[place]);
      if (!node.m && told.mode === "reverse") compare(slope(data.output, place), node.s, made.adjoints[place]);
    });
    edges.forEach((edge, place) => edge.c && compare(slope(edge.t, edge.s), edge.p, made.partials[place]));
    return found;
  }

  function begin() {
    all("[data-tools]").forEach((element) => { element.hidden = false; });
    if (data.sliders && evaluate) {
      let wrong;
      inputFields();
      try {
        wrong = mismatches();
      } catch (error) {
        wrong = [`the evaluator stopped: ${error.message}`];
      }
      if (wrong.length) {
        const box = find(".bp-mismatch");
        box.hidden = false;
        const list = document.createElement("ul");
        list.append(...wrong.slice(0, 20).map((text) => {
          const one = document.createElement("li");
          one.textContent = text;
          return one;
        }));
        box.append(list);
        all("[data-input], .bp-reset").forEach((field) => { field.disabled = true; });
        all(".bp-state").forEach((element) => element.remove());
      } else {
        sliders();
      }
    }
    edgeLine.textContent = data.hint;
    refresh();
    if (isPage) {
      fromLink();
      addEventListener("hashchange", fromLink);
    }
    root.setAttribute("data-ready", "");
  }

  root.backprop = { figure, written: () => { numbers = work(); return written(); } };
  begin();
}
