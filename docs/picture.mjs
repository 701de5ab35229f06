// Runs "mcp-sitter demo" and writes an animated SVG of its output to stdout: node docs/picture.mjs MCP_SITTER
//
// Each step of the demo is a page, and its lines appear when the demo writes them. What differs from run to run is
// replaced, so that the same demo gives the same picture.

import { spawn } from 'node:child_process';
import { once } from 'node:events';

const columnCount = 100;
const fontSize = 14;
// DejaVu Sans Mono, Menlo and Liberation Mono are that wide; no common font is wider.
const columnWidth = fontSize * 0.602;
const rowHeight = 19;
const margin = 18;
const barHeight = 30;
// The pauses of the demo are multiples of this. What a server needs is shorter, and a line may be read late.
const beat = 0.5;
const lateness = 0.15;
const lastPause = 4;

const colors = { plain: '#d4dae2', 1: '#ffffff', 31: '#ff8a80', 32: '#7ee08a', 36: '#6fd3e8', 90: '#8d97a5' };
const isBold = (style) => style.startsWith('1');
const colorOf = (style) => colors[style] ?? colors[style.split(';').at(-1)];

// ---- Reading -------------------------------------------------------------------------------------------------------

/** The lines of the demo, each with the time in seconds at which it came. */
async function recorded(program) {
  const demo = spawn(program, ['demo', '--color', '--no-fast'], { stdio: ['ignore', 'pipe', 'inherit'] });
  const end = once(demo, 'close');
  const lines = [];
  let time = 0;
  let before;
  let rest = '';
  demo.stdout.setEncoding('utf8');
  for await (const text of demo.stdout) {
    const now = performance.now() / 1000;
    time += Math.floor((now - (before ?? now) + lateness) / beat) * beat;
    before = now;
    const pieces = (rest + text).split('\n');
    rest = pieces.pop();
    lines.push(...pieces.map((piece) => ({ time, text: piece })));
  }
  const [code] = await end;
  if (code !== 0) throw new Error(`mcp-sitter demo ended with exit code ${code}`);
  return lines;
}

const pids = new Map();

function normalised(text) {
  return text
    .replace(/(\/[^\s/]+)*\/mcp-sitter-demo-\w{6}/g, '/home/me/notes')
    .replace(/\bpid (\d+)/g, (_, pid) => {
      if (!pids.has(pid)) pids.set(pid, 4711 + pids.size);
      return `pid ${pids.get(pid)}`;
    })
    .replace(/\b(startup|after) ([\d.]+)s/g, (_, word, seconds) => `${word} ${seconds < 1 ? '0.02' : '10'}s`)
    .replace(/\bbuilt \d+s ago/g, 'built just now');
}

/** The characters of a line, each with the code of its style. */
function styled(text) {
  let style = 'plain';
  return text.split(/(\x1b\[[\d;]*m)/).flatMap((part) => {
    const code = /^\x1b\[([\d;]*)m$/.exec(part);
    if (!code) return Array.from(part, (character) => ({ character, style }));
    style = code[1] === '0' ? 'plain' : code[1];
    return [];
  });
}

/** Breaks a line at its spaces. What follows is indented as the text behind the label. */
function wrapped(line) {
  const afterLabel = line.findIndex(({ style }) => style !== line[0].style);
  const indent = Array(Math.max(afterLabel, 0)).fill({ character: ' ', style: 'plain' });
  const rows = [];
  while (line.length > columnCount) {
    const space = line.findLastIndex(({ character }, at) => character === ' ' && at <= columnCount);
    const end = space > indent.length ? space : columnCount;
    rows.push(line.slice(0, end));
    line = [...indent, ...line.slice(space > indent.length ? end + 1 : end)];
  }
  return [...rows, line];
}

/** The header and the steps: lists of rows with their times. A step begins with its number. */
function pagesOf(lines) {
  const pages = [[]];
  for (const { time, text } of lines) {
    const line = styled(normalised(text));
    if (/^\d\. /.test(line.map(({ character }) => character).join(''))) pages.push([]);
    for (const row of wrapped(line)) pages.at(-1).push({ time, row });
  }
  return pages.map((page) => page.slice(0, page.findLastIndex(({ row }) => row.length > 0) + 1));
}

// ---- Drawing -------------------------------------------------------------------------------------------------------

const escaped = (text) => text.replace(/&/g, '&amp;').replace(/</g, '&lt;').replace(/>/g, '&gt;');
const rounded = (number) => Number(number.toFixed(3));

function drawnRow(row, number) {
  const spans = [];
  for (const { character, style } of row) {
    if (spans.at(-1)?.style !== style) spans.push({ style, text: '' });
    spans.at(-1).text += character;
  }
  const drawn = spans.map(({ style, text }) =>
    style === 'plain' ? escaped(text) : `<tspan class="s${style.replace(';', '-')}">${escaped(text)}</tspan>`);
  return drawn.length === 0 ? '' : `<text x="${margin}" y="${number * rowHeight}">${drawn.join('')}</text>\n`;
}

class Animations {
  rules = [];

  constructor(duration) {
    this.duration = duration;
  }

  /** The name of a class whose elements are seen from one time to the other. */
  add(from, to) {
    const name = `t${this.rules.length}`;
    const at = (time) => `${rounded((100 * time) / this.duration)}%`;
    const hidden = from > 0 ? `0%{opacity:0}` : '';
    const end = to < this.duration ? `${at(to)}{opacity:0}` : '';
    this.rules.push(`@keyframes ${name}{${hidden}${at(from)}{opacity:1}${end}}.${name}{animation-name:${name}}`);
    return name;
  }
}

function drawnPage(page, firstRow, end, isLast, animations) {
  const times = [...new Set(page.map(({ time }) => time))];
  const groups = times.map((time) => {
    const rows = page.map((line, at) => (line.time === time ? drawnRow(line.row, firstRow + at) : '')).join('');
    return `<g class="a ${animations.add(time, end)}${isLast ? '' : ' p'}">\n${rows}</g>\n`;
  });
  return groups.join('');
}

function picture(lines) {
  const [header, ...steps] = pagesOf(lines);
  const duration = lines.at(-1).time + lastPause;
  const animations = new Animations(duration);
  const rowCount = header.length + 1 + Math.max(...steps.map((step) => step.length));
  const width = Math.ceil(columnCount * columnWidth) + 2 * margin;
  const height = barHeight + rowCount * rowHeight + 2 * margin;
  const title = header[0].row.map(({ character }) => character).join('');
  const drawnHeader = header.map(({ row }, at) => drawnRow(row, at + 1)).join('');
  const drawnSteps = steps.map((step, at) => {
    const end = at + 1 < steps.length ? steps[at + 1][0].time : duration;
    return drawnPage(step, header.length + 2, end, at + 1 === steps.length, animations);
  });
  const styles = [...new Set(lines.flatMap(({ text }) => styled(text).map(({ style }) => style)))].filter(
    (style) => style !== 'plain');
  const classes = styles.map((style) =>
    `.s${style.replace(';', '-')}{fill:${colorOf(style)}${isBold(style) ? ';font-weight:bold' : ''}}`);
  const dots = ['#ff5f57', '#febc2e', '#28c840'].map((color, at) =>
    `<circle cx="${margin + 4 + at * 18}" cy="${barHeight / 2 + 4}" r="5.5" fill="${color}"/>`);
  return `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 ${width} ${height}" width="${width}" height="${height}" role="img" aria-label="${escaped(title)}">
<title>${escaped(title)}</title>
<style>
text{font:${fontSize}px ui-monospace,SFMono-Regular,Menlo,"DejaVu Sans Mono","Liberation Mono",Consolas,monospace;fill:${colors.plain};white-space:pre}
.w{text-anchor:middle;fill:${colors[90]}}
${classes.join('\n')}
.p{opacity:0}
@media (prefers-reduced-motion:no-preference){
.a{animation:${duration}s step-end infinite}
${animations.rules.join('\n')}
}
</style>
<rect x="0.5" y="0.5" width="${width - 1}" height="${height - 1}" rx="9" fill="#161b22" stroke="#59636e"/>
${dots.join('')}
<text class="w" x="${width / 2}" y="${barHeight / 2 + 9}">mcp-sitter demo</text>
<g transform="translate(0 ${barHeight + margin - 4})">
${drawnHeader}${drawnSteps.join('')}</g>
</svg>
`;
}

process.stdout.write(picture(await recorded(process.argv[2])));
