/**
 * Writes the WebAssembly module of `src/acl/blake2b.ts`: BLAKE2b (RFC 7693) with its rounds written
 * out. It has no memory, because V8 reserves 8 GB of addresses for one, which a limit of the
 * process may forbid: the words of a block are parameters, the state of the hash is global words.
 */
import { writeFileSync } from 'node:fs';

/** Which word of a block each step of the twelve rounds adds, in hex. */
const SIGMA = [
  ...['0123456789abcdef', 'ea489fd61c02b753', 'b8c052fdae367194', '7931dcbe265a40f8'],
  ...['905724afe1bc683d', '2c6a0b834d75fe19', 'c51fed4a0763928b', 'db7ec13950f4862a'],
  ...['6fe9b308c2d714a5', 'a2847615fb9e3cd0', '0123456789abcdef', 'ea489fd61c02b753'],
];
const IV = [
  ...[0x6a09e667f3bcc908n, 0xbb67ae8584caa73bn, 0x3c6ef372fe94f82bn, 0xa54ff53a5f1d36f1n],
  ...[0x510e527fade682d1n, 0x9b05688c2b3e6c1fn, 0x1f83d9abfb41bd6bn, 0x5be0cd19137e2179n],
];
/** No key, a hash of 32 bytes, no tree. */
const PARAMETERS = 0x01010020n;
const BLOCK_BYTES = 128;
const HASH_BYTES = 32;

const [I32, I64] = [0x7f, 0x7e] as const;
const [ADD, XOR, OR, LEFT, RIGHT, ROTATE] = [0x7c, 0x85, 0x84, 0x86, 0x88, 0x8a] as const;
const [WRAP, EXTEND, EXTEND_SIGNED, I32_LESS, I32_EQUAL] = [0xa7, 0xad, 0xac, 0x49, 0x46] as const;
const [IF, NOTHING, RETURN, END] = [0x04, 0x40, 0x0f, 0x0b] as const;
const get = (local: number): number[] => [0x20, local];
const set = (local: number): number[] => [0x21, local];
const tee = (local: number): number[] => [0x22, local];
/** The state of the hash is in eight global words. */
const getState = (word: number): number[] => [0x23, word];
const setState = (word: number): number[] => [0x24, word];
const i64 = (value: bigint): number[] => [0x42, ...signed(BigInt.asIntN(64, value))];
/** Numbers in LEB128. */
const unsigned = (value: number): number[] =>
  value < 128 ? [value] : [(value & 127) | 128, ...unsigned(value >>> 7)];
function signed(value: bigint): number[] {
  const [low, rest] = [Number(value & 127n), value >> 7n];
  return rest === (low < 64 ? 0n : -1n) ? [low] : [low | 128, ...signed(rest)];
}
/** Bytes behind their number. */
const sized = (bytes: readonly number[]): number[] => [...unsigned(bytes.length), ...bytes];

/** The parameters: bytes up to the end of the block, and -1 if it is the last one, or 0. */
const [BYTES, LAST] = [0, 1] as const;
/** Then come the halves of its words, the lower first. */
const half = (at: number): number => 2 + at;
const PARAMETER_COUNT = half(2 * 16);
/** The words of the block and of the working state are local variables. */
const m = (word: number): number => PARAMETER_COUNT + word;
const v = (word: number): number => m(16) + word;

/** Adds `a += b + word; d = (d ^ a) >>> by[0]; c += d; b = (b ^ c) >>> by[1]`. */
function mix(code: number[], at: (row: number) => number, word: number, by: readonly number[]) {
  const [a, b, c, d] = [at(0), at(1), at(2), at(3)] as const;
  code.push(...get(a), ...get(b), ADD, ...get(m(word)), ADD, ...tee(a));
  code.push(...get(d), XOR, 0x42, by[0]!, ROTATE, ...set(d));
  code.push(...get(c), ...get(d), ADD, ...tee(c));
  code.push(...get(b), XOR, 0x42, by[1]!, ROTATE, ...set(b));
}

/** Returns the function that adds a block to the state. The first block begins a new state. */
function compression(): number[] {
  const code = [...get(BYTES), 0x41, ...unsigned(BLOCK_BYTES + 1), I32_LESS, IF, NOTHING];
  for (const [word, iv] of IV.entries())
    code.push(...i64(word === 0 ? iv ^ PARAMETERS : iv), ...setState(word));
  code.push(END);
  for (let word = 0; word < 16; word++) {
    code.push(...get(half(2 * word)), EXTEND, ...get(half(2 * word + 1)), EXTEND);
    code.push(...i64(32n), LEFT, OR, ...set(m(word)));
  }
  for (const [word, iv] of IV.entries())
    code.push(...getState(word), ...set(v(word)), ...i64(iv), ...set(v(8 + word)));
  code.push(...get(v(12)), ...get(BYTES), EXTEND, XOR, ...set(v(12)));
  code.push(...get(v(14)), ...get(LAST), EXTEND_SIGNED, XOR, ...set(v(14)));
  for (const round of SIGMA) {
    for (let step = 0; step < 8; step++) {
      // the columns of the working state, then its diagonals
      const at = (row: number): number => v(4 * row + ((step + (step < 4 ? 0 : row)) % 4));
      mix(code, at, Number.parseInt(round[2 * step]!, 16), [32, 24]);
      mix(code, at, Number.parseInt(round[2 * step + 1]!, 16), [16, 63]);
    }
  }
  for (let word = 0; word < 8; word++)
    code.push(...getState(word), ...get(v(word)), XOR, ...get(v(8 + word)), XOR, ...setState(word));
  return code;
}

/** Returns the function that returns a half of the state's words by its number. */
function result(): number[] {
  const code: number[] = [];
  for (let at = 0; at < HASH_BYTES / 4; at++) {
    code.push(...get(0), 0x41, at, I32_EQUAL, IF, NOTHING, ...getState(at >> 1));
    code.push(...i64(at % 2 === 0 ? 0n : 32n), RIGHT, WRAP, RETURN, END);
  }
  return [...code, 0x41, 0];
}

/** Returns the bytes of the module. */
function assembled(): number[] {
  const section = (id: number, items: readonly number[][]): number[] => [
    id,
    ...sized(unsigned(items.length).concat(...items)),
  ];
  const parameters = Array.from({ length: PARAMETER_COUNT }, () => I32);
  return [
    ...[0, 0x61, 0x73, 0x6d, 1, 0, 0, 0],
    ...section(1, [
      [0x60, ...sized(parameters), 0],
      [0x60, 1, I32, 1, I32],
    ]),
    ...section(3, [[0], [1]]),
    ...section(
      6,
      Array.from(IV, () => [I64, 1, ...i64(0n), END]),
    ),
    ...section(
      7,
      ['compress', 'result'].map((name, at) => [...sized([...Buffer.from(name)]), 0, at]),
    ),
    ...section(10, [sized([1, 32, I64, ...compression(), END]), sized([0, ...result(), END])]),
  ];
}

const [target] = process.argv.slice(2);
if (target === undefined) throw new Error('usage: blake2b FILE');
const text = Buffer.from(assembled()).toString('base64');
writeFileSync(target, `export const MODULE = '${text}';\n`);
