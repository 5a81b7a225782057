// Numbers as people read them, as on the command line.

const POWERS = ["B", "KiB", "MiB", "GiB", "TiB", "PiB"];

export function bytes(count) {
  let power = 0;
  while (count >= 1024 && power < POWERS.length - 1) {
    count /= 1024;
    power += 1;
  }
  return `${significant(count)} ${POWERS[power]}`;
}

export function significant(value) {
  if (value === null || !Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const digits = Math.max(0, 2 - Math.floor(Math.log10(Math.abs(value))));
  return String(Number(value.toFixed(Math.min(9, digits))));
}

export function grouped(value) {
  if (Math.abs(value) < 100) return significant(value);
  return Math.round(value).toString().replace(/\B(?=(\d{3})+$)/g, "\u202f");
}

export function latency(value_s) {
  if (value_s === null || value_s === undefined) return "–";
  const [scale, unit] = value_s < 1e-3 ? [1e6, "µs"] : value_s < 1 ? [1e3, "ms"] : [1, "s"];
  return `${significant(value_s * scale)} ${unit}`;
}

export function seconds(value) {
  if (value < 1) return `${Math.round(value * 1000)} ms`;
  if (value < 60) return `${Math.round(value)} s`;
  if (value < 3600) return `${Math.floor(value / 60)} min ${Math.round(value % 60)} s`;
  return `${Math.floor(value / 3600)} h ${Math.round((value % 3600) / 60)} min`;
}
