#include "reporting/views/render/script.h"

#include <fmt/format.h>

#include "base/sha256.h"

namespace deft::reporting {

namespace {

const char* const kScript = R"js(
'use strict';
(() => {
const SVG = 'http://www.w3.org/2000/svg';
const hidden = new Set();  // recipes
const make = (name, attributes, text) => {
    const node = document.createElement(name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    return node;
};
const draw = (parent, name, attributes, text) => {
    const node = document.createElementNS(SVG, name);
    for (const key in attributes) node.setAttribute(key, attributes[key]);
    if (text !== undefined) node.textContent = text;
    parent.appendChild(node);
    return node;
};

// ---- tables ----

const kPrefixes = {k: 1e3, M: 1e6, G: 1e9, T: 1e12, P: 1e15, E: 1e18};
const kSeconds = {d: 86400, h: 3600, m: 60, min: 60, s: 1, ms: 1e-3, us: 1e-6};
// The number that a cell prints; NaN for text.
const numberOf = text => {
    const parts = text.trim().replace(/^[$€]/, '').replace(/(\d)[ ,](?=\d{3}\b)/g, '$1');
    const match = /^([+\-−]?\d*\.?\d+(?:e[+-]?\d+)?)\s*([A-Za-z]*)/.exec(parts);
    if (!match) return NaN;
    const value = parseFloat(match[1].replace('−', '-')), unit = match[2];
    if (unit in kSeconds) {
        let seconds = 0;
        for (const [, n, u] of parts.matchAll(/(\d*\.?\d+)\s*(ms|us|min|[dhms])(?![A-Za-z])/g)) seconds += n * kSeconds[u];
        return seconds;
    }
    return unit.length === 1 && unit in kPrefixes ? value * kPrefixes[unit] : value;
};
const textOf = cell => (cell ? (cell.firstChild ? cell.firstChild.textContent : '') : '');
const orderOf = (a, b) => {
    const x = numberOf(a), y = numberOf(b);
    if (isNaN(x) !== isNaN(y)) return isNaN(x) ? 1 : -1;  // numbers first, what is missing last
    return isNaN(x) ? a.localeCompare(b, 'en', {numeric: true}) : x - y;
};
const sortTable = (table, column, direction) => {
    const body = table.tBodies[0];
    const rows = [...body.rows].map((row, at) => ({row, at, text: textOf(row.cells[column])}));
    rows.sort((a, b) => {
        if (direction === 0) return a.row.deftAt - b.row.deftAt;
        const missing = (a.text === '-') - (b.text === '-');
        return missing || direction * orderOf(a.text, b.text) || a.at - b.at;
    });
    body.append(...rows.map(one => one.row));
    [...table.tHead.rows[0].cells].forEach((cell, at) => {
        if (at === column && direction) cell.setAttribute('aria-sort', direction > 0 ? 'ascending' : 'descending');
        else cell.removeAttribute('aria-sort');
    });
};
// The column and direction that a table is sorted by; nothing where it is not.
const sortingOf = table => {
    const cells = table.tHead ? [...table.tHead.rows[0].cells] : [];
    const column = cells.findIndex(cell => cell.hasAttribute('aria-sort'));
    return column < 0 ? undefined : [column, cells[column].getAttribute('aria-sort') === 'ascending' ? 1 : -1];
};
const recipeOf = row => (row.cells[0] && row.cells[0].tagName === 'TH' ? textOf(row.cells[0]).trim() : '');
const showRows = table => {
    const wanted = (table.deftFilter ? table.deftFilter.value : '').trim().toLowerCase();
    const lacks = node => wanted !== '' && !node.textContent.toLowerCase().includes(wanted);
    if (table.closest('.trace'))
        for (const body of table.tBodies) body.hidden = lacks(body);
    else
        for (const row of table.tBodies[0].rows) row.hidden = hidden.has(recipeOf(row)) || lacks(row);
};
const enableFilter = table => {
    const input = make('input', {type: 'search', placeholder: 'filter rows', 'aria-label': 'Filter rows',
                                 class: 'filter'});
    input.addEventListener('input', () => showRows(table));
    table.deftFilter = input;
    table.closest('.scroll').before(input);
};
const enableTable = table => {
    if (!table.tHead || !table.tBodies[0]) return;
    if (table.closest('.trace')) {  // the trials of a row stay together
        if (table.tBodies.length > 3) enableFilter(table);
        return;
    }
    if (table.tBodies[0].rows.length < 2) return;
    [...table.tBodies[0].rows].forEach((row, at) => { row.deftAt = at; });
    [...table.tHead.rows[0].cells].forEach((cell, column) => {
        cell.tabIndex = 0;
        cell.classList.add('sorts');
        cell.title = 'Sort by this column';
        const sort = () => {
            const now = cell.getAttribute('aria-sort');
            sortTable(table, column, now === 'ascending' ? -1 : now === 'descending' ? 0 : 1);
        };
        cell.addEventListener('click', sort);
        cell.addEventListener('keydown', event => {
            if (event.key === 'Enter' || event.key === ' ') { event.preventDefault(); sort(); }
        });
    });
    if (table.tBodies[0].rows.length >= 12) enableFilter(table);
};

// ---- small charts ----

const kFewCharts = 6;
// A field that leaves the charts whose names and captions hold its text.
const enablePanels = () => {
    const panels = [...document.querySelectorAll('.panel')];
    if (panels.length <= kFewCharts) return;
    const input = make('input', {type: 'search', placeholder: 'filter charts', 'aria-label': 'Filter charts',
                                 class: 'filter'});
    const wordsOf = panel => [...panel.querySelectorAll('h3, p, figcaption')].map(one => one.textContent).join(' ');
    input.addEventListener('input', () => {
        const wanted = input.value.trim().toLowerCase();
        for (const panel of panels) panel.hidden = !wordsOf(panel).toLowerCase().includes(wanted);
    });
    (document.querySelector('h2:has(+ .panels)') || document.querySelector('.panels')).before(input);
};

// ---- figures ----

const kWidth = 980, kHeight = 430, kTop = 14, kBottom = 376, kLeft = 72;
const short = value => {
    const names = ['', 'k', 'M', 'G', 'T', 'P', 'E', 'Z'];
    let at = 0;
    while (Math.abs(value) >= 999.9999 && at + 1 < names.length) { value /= 1000; ++at; }
    return String(+value.toPrecision(4)) + names[at];
};
const axisFor = (values, log) => {
    const least = Math.min(...values), most = Math.max(...values);
    if (log && least > 0 && most > least) return {log: true, from: least / 1.05, to: most * 1.05};
    const margin = most > least ? (most - least) * 0.04 : Math.max(1e-9, Math.abs(most) / 10);
    const zero = least >= 0 && least <= 0.35 * most;
    return {from: zero ? 0 : least - margin, to: most + margin};
};
const placeOn = (axis, v) => axis.log ? Math.log(v / axis.from) / Math.log(axis.to / axis.from)
                                      : (v - axis.from) / (axis.to - axis.from);
const ticksOf = (axis, wanted) => {
    const ticks = [];
    if (axis.log) {
        for (const multiples of [[1], [1, 3], [1, 2, 5], [1, 1.5, 2, 3, 4, 5, 6, 8]]) {
            ticks.length = 0;
            for (let d = Math.floor(Math.log10(axis.from)); d <= Math.log10(axis.to); ++d)
                for (const m of multiples) {
                    const v = m * 10 ** d;
                    if (v >= axis.from && v <= axis.to) ticks.push(v);
                }
            if (ticks.length >= wanted) break;
        }
        return ticks;
    }
    const raw = (axis.to - axis.from) / wanted, power = 10 ** Math.floor(Math.log10(raw));
    const step = [1, 2, 5, 10].map(f => f * power).find(s => s >= raw);
    for (let i = Math.ceil(axis.from / step - 1e-9); i * step <= axis.to + step * 1e-9; ++i) ticks.push(i * step);
    return ticks;
};
const kMarkers = [
    (x, y, r) => ['circle', {cx: x, cy: y, r}],
    (x, y, r) => ['rect', {x: x - r, y: y - r, width: 2 * r, height: 2 * r}],
    (x, y, r) => ['path', {d: `M${x} ${y - r * 1.1}l${r * 1.15} ${r * 2.1}h${-r * 2.3}z`}],
    (x, y, r) => ['path', {d: `M${x} ${y - (r *= 1.3)}l${r} ${r}l${-r} ${r}l${-r} ${-r}z`}],
    (x, y, r) => ['path', {d: `M${x} ${y + r * 1.1}l${r * 1.15} ${-r * 2.1}h${-r * 2.3}z`}],
    (x, y, r) => ['path', {class: 'cross', d: `M${x - r} ${y - r}l${2 * r} ${2 * r}m0 ${-2 * r}l${-2 * r} ${2 * r}`}],
];
const kDashes = ['', '7 4', '2 3', '10 3 2 3'];

const drawFigure = plot => {
    const {data, state, box} = plot;
    const shown = data.series.filter(s => !hidden.has(s.recipe) && !state.off.has(s.name) && s.x[state.axis]);
    const title = data.title.replace(data.axes[0], data.axes[state.axis]);
    box.textContent = '';
    box.setAttribute('aria-label', title);
    plot.heading.textContent = title;
    const svg = draw(box, 'svg', {viewBox: `0 0 ${kWidth} ${kHeight}`, role: 'img', 'aria-label': title});
    const xs = shown.flatMap(s => s.x[state.axis].concat(s.mark_x[state.axis] || []));
    const ys = shown.flatMap(s => s.low.concat(s.high, s.mark_y));
    if (xs.length === 0) {
        draw(svg, 'text', {x: kWidth / 2, y: kHeight / 2, 'text-anchor': 'middle'}, 'Every line is hidden.');
        return;
    }
    const longest = Math.max(...shown.map(s => s.name.length)) + 6;
    const right = Math.min(730, Math.max(480, kWidth - 51 - 7.6 * longest));
    const x = axisFor(xs, state.logX), y = axisFor(ys, state.logY);
    const px = v => +(kLeft + placeOn(x, v) * (right - kLeft)).toFixed(1);
    const py = v => +(kBottom - placeOn(y, v) * (kBottom - kTop)).toFixed(1);
    let grid = '', after = -Infinity;
    const labels = draw(svg, 'g', {});
    for (const tick of ticksOf(y, 4)) {
        grid += `M${kLeft} ${py(tick)}H${right}`;
        draw(labels, 'text', {x: kLeft - 8, y: py(tick), dy: 4, 'text-anchor': 'end'}, short(tick));
    }
    for (const tick of ticksOf(x, 6)) {
        grid += `M${px(tick)} ${kBottom}v5`;
        const half = 4 * short(tick).length;
        if (px(tick) - half < after + 8) continue;
        after = px(tick) + half;
        draw(labels, 'text', {x: px(tick), y: kBottom + 20, 'text-anchor': 'middle'}, short(tick));
    }
    const note = axis => axis.log ? ' (log scale)' : '';
    draw(labels, 'text', {x: (kLeft + right) / 2, y: kHeight - 8, 'text-anchor': 'middle'},
         data.axes[state.axis] + note(x));
    draw(labels, 'text', {transform: `translate(14 ${(kTop + kBottom) / 2}) rotate(-90)`, 'text-anchor': 'middle'},
         data.y + note(y));
    svg.prepend(draw(svg, 'path', {class: 'frame', d: `M${kLeft} ${kTop}V${kBottom}H${right}`}));
    svg.prepend(draw(svg, 'path', {class: 'grid', d: grid}));
    const ends = [];
    for (const s of shown) {
        const at = s.x[state.axis], group = draw(svg, 'g', {class: 's' + s.style % 8});
        const path = (values, from) => at.map((v, i) => `${i ? 'L' : from}${px(v)} ${py(values[i])}`).join('');
        const back = [...at.keys()].reverse().map(i => `L${px(at[i])} ${py(s.low[i])}`).join('');
        if (s.seeds > 1 && at.length) draw(group, 'path', {class: 'band', d: path(s.high, 'M') + back + 'Z'});
        if (at.length) draw(group, 'path', {class: 'line', d: path(s.y, 'M'), 'stroke-dasharray': kDashes[s.dash % 4]});
        const marks = s.mark_x[state.axis] || [];
        const mark = draw(group, 'g', {class: 'mark'});
        marks.forEach((v, i) => draw(mark, ...kMarkers[s.style % 6](px(v), py(s.mark_y[i]), 5)));
        const end = marks.length ? s.mark_y[marks.length - 1] : s.y[at.length - 1];
        const endX = marks.length ? marks[marks.length - 1] : at[at.length - 1];
        if (end !== undefined) ends.push({s, value: end, x: px(endX), from: py(end), y: py(end)});
    }
    ends.sort((a, b) => a.y - b.y);
    ends.forEach((one, i) => { one.y = Math.max(one.y, i ? ends[i - 1].y + 19 : kTop + 8); });
    for (let i = ends.length; i-- > 0;)
        ends[i].y = Math.min(ends[i].y, i + 1 < ends.length ? ends[i + 1].y - 19 : kBottom - 8);
    for (const one of ends) {
        const group = draw(svg, 'g', {class: 's' + one.s.style % 8}), from = right + 14;
        const leader = `M${one.x + 6} ${one.from}L${from - 2} ${one.y}`;
        if (right - one.x < 40) draw(group, 'path', {class: 'leader', d: leader});
        draw(group, 'path', {class: 'line', d: `M${from} ${one.y}h30`, 'stroke-dasharray': kDashes[one.s.dash % 4]});
        draw(group, ...kMarkers[one.s.style % 6](from + 15, one.y, 3.5));
        const text = draw(group, 'text', {x: right + 51, y: one.y, dy: 4}, one.s.name + ' ');
        draw(text, 'tspan', {class: 'muted'}, one.value.toPrecision(4));
    }
    const rule = draw(svg, 'path', {class: 'grid', d: ''});
    svg.addEventListener('pointerleave', () => { rule.setAttribute('d', ''); plot.values.textContent = plot.hint; });
    svg.addEventListener('pointermove', event => {
        const area = svg.getBoundingClientRect();
        const want = (event.clientX - area.left) / area.width * kWidth;
        const near = (values, i, v) => Math.abs(px(v) - want) < Math.abs(px(values[i]) - want);
        const found = shown.filter(s => s.x[state.axis].length).map(s => {
            const at = s.x[state.axis];
            let i = 0;
            at.forEach((v, k) => { if (near(at, i, v)) i = k; });
            return {s, i, x: at[i]};
        });
        if (!found.length || want < kLeft || want > right) return;
        const center = found.reduce((a, b) => Math.abs(px(b.x) - want) < Math.abs(px(a.x) - want) ? b : a).x;
        rule.setAttribute('d', `M${px(center)} ${kTop}V${kBottom}`);
        plot.values.textContent = `${short(center)} ${data.axes[state.axis]}: ` +
            found.map(({s, i}) => `${s.name} ${+s.y[i].toPrecision(5)}` +
                (s.seeds > 1 ? ` [${+s.low[i].toPrecision(5)}, ${+s.high[i].toPrecision(5)}]` : '')).join('; ');
    });
};
const plots = [];
const states = new Map();  // what the reader chose, by the figure's title: a page that is renewed keeps it
const enableFigure = block => {
    const data = JSON.parse(block.textContent);
    const placesOf = number => number === null ? null : data.places[number];
    for (const s of data.series) [s.x, s.mark_x] = [s.x.map(placesOf), s.mark_x.map(placesOf)];
    const figure = block.closest('.figures'), box = figure.querySelector('.chart');
    const bar = make('div', {class: 'bar-of-controls'}), values = make('p', {class: 'values', 'aria-live': 'off'});
    const plot = {data, box, values, hint: 'Point at the chart for values; click a name to hide its line.',
                  heading: box.closest('figure').previousElementSibling, state: states.get(data.title) ||
                      {axis: 0, logX: data.log_x, logY: data.log_y, off: new Set()}};
    states.set(data.title, plot.state);
    values.textContent = plot.hint;
    const axis = make('select', {'aria-label': 'Horizontal axis'});
    data.axes.forEach((name, at) => {
        if (data.series.some(s => s.x[at])) axis.append(make('option', {value: at}, name));
    });
    if ([...axis.options].some(one => +one.value === plot.state.axis)) axis.value = plot.state.axis;
    else plot.state.axis = 0;
    axis.addEventListener('change', () => { plot.state.axis = +axis.value; drawFigure(plot); });
    bar.append(axis);
    for (const [key, text] of [['logX', 'log x'], ['logY', 'log y']]) {
        const label = make('label', {}), input = make('input', {type: 'checkbox'});
        input.checked = plot.state[key];
        input.addEventListener('change', () => { plot.state[key] = input.checked; drawFigure(plot); });
        label.append(input, ' ' + text);
        bar.append(label);
    }
    for (const s of data.series) {
        const button = make('button', {type: 'button', 'aria-pressed': String(!plot.state.off.has(s.name)),
                                         class: 's' + s.style % 8}, s.name);
        button.addEventListener('click', () => {
            const off = !plot.state.off.delete(s.name);
            if (off) plot.state.off.add(s.name);
            button.setAttribute('aria-pressed', String(!off));
            drawFigure(plot);
        });
        bar.append(button);
    }
    box.before(bar);
    box.after(values);
    figure.querySelectorAll('.one-axis').forEach(one => { one.hidden = true; });
    plots.push(plot);
    drawFigure(plot);
};

// ---- recipes ----

const enableRecipes = () => {
    const place = document.getElementById('recipes');
    if (!place) return;
    const names = JSON.parse(place.dataset.names);
    if (names.length < 2) return;
    place.append('Recipes: ');
    for (const name of names) {
        const label = make('label', {}), input = make('input', {type: 'checkbox'});
        input.checked = !hidden.has(name);
        input.addEventListener('change', () => {
            if (input.checked) hidden.delete(name);
            else hidden.add(name);
            document.querySelectorAll('table').forEach(showTable);
            plots.forEach(drawFigure);
        });
        label.append(input, ' ' + name);
        place.append(label, ' ');
    }
    place.hidden = false;
};
const showTable = table => { if (table.tBodies[0]) showRows(table); };

const enablePage = () => {
    plots.length = 0;
    document.querySelectorAll('table').forEach(enableTable);
    enablePanels();
    document.querySelectorAll('script[type="application/json"].figure-data').forEach(enableFigure);
    enableRecipes();
    document.querySelectorAll('table').forEach(showTable);
};

// ---- a page that is served ----

// Fetches the page again where the database has changed, and keeps what the reader has opened, hidden and sorted.
const follow = () => {
    const url = document.body.dataset.live;
    if (!url) return;
    const bar = make('p', {class: 'live', role: 'status'}, document.body.dataset.state);
    document.body.prepend(bar);
    let version = document.body.dataset.version, state = document.body.dataset.state, wait = 1000;
    const get = async address => {
        const answer = await fetch(address, {cache: 'no-store'});
        const text = await answer.text();
        if (!answer.ok) throw new Error(text);
        return text;
    };
    const renew = async () => {
        const start = Date.now();
        const next = new DOMParser().parseFromString(await get(location.href), 'text/html');
        const opened = [...document.querySelectorAll('details')].map(one => one.open);
        const sorted = [...document.querySelectorAll('table')].map(sortingOf);
        document.querySelector('main').replaceWith(next.querySelector('main'));
        document.querySelectorAll('details').forEach((one, at) => { one.open = Boolean(opened[at]); });
        enablePage();
        document.querySelectorAll('table').forEach((one, at) => { if (sorted[at]) sortTable(one, ...sorted[at]); });
        version = next.body.dataset.version;
        state = next.body.dataset.state;
        wait = Math.max(1000, 20 * (Date.now() - start));  // a large page costs a small share of the time
    };
    const look = async () => {
        try {
            if (JSON.parse(await get(url)).version !== version) await renew();
            bar.textContent = state;
        } catch (error) {
            bar.textContent = error instanceof TypeError ? 'deft serve does not answer: this is what it showed last.'
                                                         : error.message;
            wait = 2000;
        }
        setTimeout(look, wait);
    };
    setTimeout(look, wait);
};

document.documentElement.classList.add('js');
enablePage();
follow();
})();
)js";

}  // namespace

std::string page_script() {
    return fmt::format("<script>{}</script>\n", kScript);
}

std::string script_policy() {
    return fmt::format("'sha256-{}'", sha256_base64(kScript));
}

std::string data_block_html(const std::string& name, const OrderedJson& data) {
    std::string text;
    // No text of the data can end the element.
    for (const char c : data.dump(-1, ' ', false, OrderedJson::error_handler_t::replace))
        text += c == '<' ? std::string("\\u003c") : std::string(1, c);
    return fmt::format("<script type=\"application/json\" class=\"{}\">{}</script>\n", name, text);
}

}  // namespace deft::reporting
