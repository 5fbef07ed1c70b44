/** The palette: goes to any page, action or object by typing. */
import { useEffect, useId, useState } from 'preact/hooks';
import type { Stored } from '../api/types.js';
import { configType } from '../config/type.js';
import { hasWords } from '../lists/filter.js';
import { readFirst } from '../lists/page.js';
import type { ObjectType } from '../objects/type.js';
import {
  methodType,
  namespaceType,
  policyType,
  roleType,
  ruleType,
  tokenType,
} from '../objects/types.js';
import { Dialog } from '../parts/dialog.js';
import { Icon } from '../parts/icon.js';
import { useLoad, useSettled } from '../parts/load.js';
import { Status } from '../parts/notice.js';
import { go, hrefOf, namespace } from '../router.js';
import { session } from '../session.js';
import { TEXT } from '../texts.js';
import { GROUPS } from './menu.js';

/** Objects of a type that are offered. */
const OFFERED = 5;
const TYPING_MS = 150;

/** Something to go to. */
interface Target {
  readonly icon: string;
  readonly name: string;
  /** What it is: a page, an action, a type of objects. */
  readonly about: string;
  readonly href: string;
}

const TYPES: readonly ObjectType[] = [
  policyType,
  roleType,
  tokenType,
  methodType,
  ruleType,
  namespaceType,
  configType(undefined),
];

const pages = (): readonly Target[] =>
  GROUPS.flatMap(({ entries }) => entries).map(({ slug, name }) => ({
    icon: slug || 'overview',
    name,
    about: TEXT.palette.page,
    href: hrefOf(slug === '' ? [] : [slug]),
  }));

const actions = (): readonly Target[] =>
  TYPES.map(({ slug, noun }) => ({
    icon: slug,
    name: TEXT.list.create(noun),
    about: TEXT.palette.action,
    href: hrefOf([slug], { new: '' }),
  }));

/** The decision whose id was typed, or pasted. */
const decisions = (typed: string): readonly Target[] =>
  /^[0-9a-f]{8}-[0-9a-f]{16}$/.test(typed)
    ? [
        {
          icon: 'explain',
          name: typed,
          about: TEXT.palette.decision,
          href: hrefOf(['explain'], { decision: typed }),
        },
      ]
    : [];

/** Reads objects that have what was typed. Types that the user may not read are left out. */
async function objects(typed: string, signal: AbortSignal): Promise<readonly Target[]> {
  if (typed === '') return [];
  const found = await Promise.allSettled(
    TYPES.map(async (type): Promise<readonly Target[]> => {
      const how = { typed, size: OFFERED, signal, once: true };
      const { items } = await readFirst<Stored>(type.list([]), how);
      return items.map((object) => ({
        icon: type.slug,
        name: type.nameOf(object),
        about: type.slug === 'config' ? String(object['Kind']) : type.noun,
        href: hrefOf([type.slug, ...type.idOf(object)]),
      }));
    }),
  );
  return found.flatMap((each) => (each.status === 'fulfilled' ? each.value : []));
}

/** The dialog in which one types. */
export function Palette({ onClose }: { onClose: () => void }) {
  const [typed, setTyped] = useState('');
  const [chosen, setChosen] = useState(0);
  const settled = useSettled(typed.trim(), TYPING_MS);
  const { value: found = [], isLoading } = useLoad(
    (signal) => objects(settled, signal),
    [settled, session.get().token, namespace()],
  );
  const known = [...pages(), ...actions()].filter(({ name }) => hasWords(name, typed));
  const isCurrent = settled === typed.trim() && !isLoading;
  // What was found for an earlier text may not fit any more: Enter would lead elsewhere.
  const fitting = isCurrent ? found : found.filter(({ name }) => hasWords(name, typed));
  const targets = typed.trim() === '' ? known : [...decisions(typed.trim()), ...known, ...fitting];
  const id = useId();
  const at = Math.min(chosen, Math.max(0, targets.length - 1));
  const move = (by: number): void =>
    setChosen((at + by + targets.length) % Math.max(1, targets.length));
  const follow = (target: Target | undefined): void => {
    if (target === undefined) return;
    onClose();
    go(target.href);
  };
  useEffect(() => {
    document.getElementById(`${id}-${at}`)?.scrollIntoView({ block: 'nearest' });
  }, [at]);
  const onKeyDown = (event: KeyboardEvent): void => {
    // Ctrl+Enter saves.
    if (event.ctrlKey || event.metaKey) return;
    if (event.key === 'ArrowDown') move(1);
    else if (event.key === 'ArrowUp') move(-1);
    else if (event.key === 'Enter') follow(targets[at]);
    else return;
    event.preventDefault();
  };
  return (
    <Dialog title={TEXT.palette.title} kind="palette" onClose={onClose}>
      <input
        type="text"
        role="combobox"
        aria-label={TEXT.palette.label}
        aria-expanded={targets.length > 0}
        aria-controls={id}
        aria-activedescendant={targets.length > 0 ? `${id}-${at}` : undefined}
        aria-autocomplete="list"
        autocomplete="off"
        spellcheck={false}
        placeholder={TEXT.palette.example}
        autofocus
        value={typed}
        onInput={(event) => {
          setTyped(event.currentTarget.value);
          setChosen(0);
        }}
        onKeyDown={onKeyDown}
      />
      <Options id={id} targets={targets} at={at} onFollow={follow} />
      <Status>{targets.length === 0 && isCurrent && TEXT.palette.nothing}</Status>
    </Dialog>
  );
}

/** What can be gone to. The text field handles the keys. */
function Options({
  id,
  targets,
  at,
  onFollow,
}: {
  id: string;
  targets: readonly Target[];
  at: number;
  onFollow: (target: Target) => void;
}) {
  return (
    <div role="listbox" tabIndex={-1} id={id} aria-label={TEXT.palette.label}>
      {targets.map((target, nth) => (
        // biome-ignore lint/a11y/useKeyWithClickEvents: the text field handles the keys
        <div
          key={target.href}
          id={`${id}-${nth}`}
          role="option"
          tabIndex={-1}
          aria-selected={nth === at}
          onClick={() => onFollow(target)}
        >
          <Icon name={target.icon} />
          <span>{target.name}</span>
          <span class="quiet">{target.about}</span>
        </div>
      ))}
    </div>
  );
}
