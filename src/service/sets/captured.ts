/** Runs the use case of a PUT against a draft, for the command that it would propose. */
import type { Authorizer } from '../../acl/types.js';
import type { Command, View } from '../../state/types.js';
import type { Caller, Requester, Service } from '../common/types.js';
import type { AuthMethodTypes } from '../login/index.js';
import type { AuthMethodType } from '../login/types.js';

/** Ends a use case that has made its command. */
const CAPTURED = new Error('the command is captured');

/**
 * A service over a draft, to which nothing is written. It permits everything: the rights to a set
 * are judged by its commands.
 */
export class Captured implements Service {
  readonly view: View;
  readonly #service: Service;
  #command: Command | undefined;

  constructor(service: Service, view: View) {
    this.#service = service;
    this.view = view;
  }

  /** Returns the command that a use case proposes. Throws what refuses it. */
  async of(run: () => Promise<unknown>): Promise<Command> {
    this.#command = undefined;
    try {
      await run();
    } catch (error) {
      if (error !== CAPTURED) throw error;
    }
    if (this.#command === undefined) throw new Error('the use case proposes nothing');
    return this.#command;
  }

  async write(_requester: Requester, command: Command): Promise<string> {
    this.#command = command;
    throw CAPTURED;
  }

  authorize(caller: Caller): Promise<Authorizer> {
    return this.#service.authorize(caller);
  }

  permit({ caller }: Requester): Promise<Authorizer> {
    return this.authorize(caller);
  }

  async catchUp(): Promise<void> {}

  namespaceOf(tokenKey: string): string | undefined {
    return this.#service.namespaceOf(tokenKey);
  }

  pin(): never {
    throw new Error('a draft cannot be frozen');
  }

  read(): never {
    throw new Error('a draft is read directly');
  }
}

/** Returns the types of auth methods without their requests to other servers. */
export const offline = (types: AuthMethodTypes): AuthMethodTypes =>
  new Map(
    [...types].map(([name, type]): [string, AuthMethodType] => [
      name,
      {
        name,
        checkConfig: (...given) => type.checkConfig(...given),
        checkIssuer: async () => undefined,
        validate: (...given) => type.validate(...given),
        examine: (...given) => type.examine(...given),
        vouched: (...given) => type.vouched(...given),
        shapeOf: (config) => type.shapeOf(config),
      },
    ]),
  );
