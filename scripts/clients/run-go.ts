/** Runs the tools of Go on the libraries, where there is a Go. */
import { spawnSync } from 'node:child_process';

/** The folder of the module. */
export const GO_MODULE = 'clients/go';

/** The environment of the tools: the module requires no other, and nothing is downloaded. */
const GO_ENV: NodeJS.ProcessEnv = {
  ...process.env,
  GOPROXY: 'off',
  GOFLAGS: '-mod=mod',
  GOTOOLCHAIN: 'local',
  PATH: `${process.env['PATH']}:/usr/local/go/bin`,
};

/** Runs a tool with arguments and more variables. */
export const runGo = (
  [command, ...args]: readonly [string, ...string[]],
  more: Readonly<Record<string, string>> = {},
) => spawnSync(command, args, { cwd: GO_MODULE, encoding: 'utf8', env: { ...GO_ENV, ...more } });

/** Returns the version of the Go that there is, such as `go1.26.1`; undefined without one. */
export const goVersion = (): string | undefined =>
  runGo(['go', 'env', 'GOVERSION']).stdout?.trim() || undefined;
