/** The page of a list: filter, table, and the way to a new object. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Stored } from '../api/types.js';
import { readFirst } from '../lists/page.js';
import { Link } from '../parts/link.js';
import { useLoad, useSettled } from '../parts/load.js';
import { Empty, ProblemNotice, ReadOnly, Status } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { useMay } from '../parts/rights.js';
import { go, hrefOf, type Place, readdress } from '../router.js';
import { TEXT } from '../texts.js';
import { Chosen } from './chosen.js';
import { ListTable } from './list-table.js';
import { Note } from './note.js';
import type { Facet, ObjectType } from './type.js';
import { PAGE_SIZE, useList } from './use-list.js';

const TYPING_MS = 250;

/** The part of a list that an address names. */
interface Shown {
  readonly filter: string;
  /** Who is behind tokens: METHOD/SUBJECT. */
  readonly subject: string;
  readonly sort: string;
  /** Counted from 0. */
  readonly page: number;
  readonly after: string | undefined;
}

const shownAt = ({ query }: Place): Shown => ({
  filter: query.get('filter') ?? '',
  subject: query.get('subject') ?? '',
  sort: query.get('sort') ?? 'name',
  page: Math.max(0, Number(query.get('page') ?? 1) - 1 || 0),
  after: query.get('after') ?? undefined,
});

/** Returns the address of a part. */
const hrefOfPart = (at: Place, { filter, subject, sort, page, after }: Shown): string =>
  hrefOf(at.parts, {
    filter: filter || undefined,
    subject: subject || undefined,
    sort: sort === 'name' ? undefined : sort,
    ...(page > 0 && { page: String(page + 1), after }),
  });

const FIRST = { page: 0, after: undefined };

/** What the page of a list is given. */
interface ListPageParts {
  readonly type: ObjectType;
  readonly at: Place;
  readonly children?: ComponentChildren;
}

/** The list of a type. Filter, order and page stand in the address. */
export function ListPage({ type, at, children }: ListPageParts) {
  const shown = shownAt(at);
  const { filter, subject, sort, page, after } = shown;
  const path = type.list(at.parts.slice(1));
  const part = { typed: filter, subject: subject || undefined, sort, after };
  const list = useList(path, part, at.query.get('ns') ?? '');
  const may = useMay(type.right);
  const [chosen, setChosen] = useState<ReadonlySet<string>>(new Set());
  const { items = [], total = 0, next } = list.value ?? {};
  const change = (part: Partial<Shown>) => hrefOfPart(at, { ...shown, ...FIRST, ...part });
  return (
    <Page title={type.title}>
      <Note />
      {children}
      <Toolbar
        type={type}
        at={at}
        shown={shown}
        mayWrite={may !== false}
        onFilter={(typed) => readdress(change(typed))}
      />
      <ProblemNotice problem={list.problem} />
      {may === false && list.problem === undefined && <ReadOnly right={type.right!} />}
      <Chosen
        key={`${filter} ${subject} ${sort} ${after}`}
        type={type}
        items={items}
        chosen={chosen}
        onChange={setChosen}
      />
      <Status>
        {list.isSlow ? TEXT.list.reading : TEXT.list.shown(page * PAGE_SIZE, items.length, total)}
      </Status>
      {list.value !== undefined && items.length === 0 && (
        <Nothing type={type} shown={shown} isFiltered={list.value.isFiltered} />
      )}
      {items.length > 0 && (
        <ListTable
          type={type}
          title={type.title}
          items={items}
          isOld={list.isSlow}
          sort={sort}
          onSort={(order) => go(change({ sort: order }))}
          chosen={may === false ? undefined : chosen}
          onChoose={setChosen}
        />
      )}
      {(page > 0 || next !== undefined) && (
        <Pager
          list={change({})}
          shown={shown}
          next={next}
          onGo={(to, from) => go(change({ page: to, after: from }))}
        />
      )}
    </Page>
  );
}

function Toolbar({
  type,
  at,
  shown,
  mayWrite,
  onFilter,
}: {
  type: ObjectType;
  at: Place;
  shown: Shown;
  mayWrite: boolean;
  onFilter: (typed: Pick<Shown, 'filter'> | Pick<Shown, 'subject'>) => void;
}) {
  const visit = `${at.visit} ${shown.sort}`;
  return (
    <>
      <div class="toolbar">
        <Filter
          key={visit}
          label={TEXT.list.filter}
          example={TEXT.list.filterExample}
          value={shown.filter}
          onChange={(filter) => onFilter({ filter })}
        />
        {type.isOfIdentities && (
          <Filter
            key={`${visit} subject`}
            label={TEXT.list.identity}
            example={TEXT.list.identityExample}
            value={shown.subject}
            onChange={(subject) => onFilter({ subject })}
          />
        )}
        {mayWrite && (
          <Link to={at.parts} query={{ new: '' }} kind="main button">
            {TEXT.list.create(type.noun)}
          </Link>
        )}
      </div>
      {type.facets && <Facets facets={type.facets} shown={shown} at={at} />}
      {type.facetOf && <FacetSelect of={type.facetOf} shown={shown} at={at} />}
    </>
  );
}

function Nothing({
  type,
  shown: { page, filter, subject },
  isFiltered,
}: {
  type: ObjectType;
  shown: Shown;
  isFiltered: boolean;
}) {
  const isWhole = filter === '' && subject === '';
  const none = isFiltered ? TEXT.list.noneReadable : type.empty;
  return <Empty>{page > 0 ? TEXT.list.ended : isWhole ? none : TEXT.list.noMatch}</Empty>;
}

/** Links to parts of a list that are often looked for. */
function Facets({ facets, shown, at }: { facets: readonly Facet[]; shown: Shown; at: Place }) {
  const all = { title: TEXT.list.everything, filter: '' };
  return (
    <nav class="kinds" aria-label={TEXT.list.facets}>
      {[all, ...facets].map((facet: Facet) => (
        <Link
          key={facet.filter}
          to={at.parts}
          query={{ filter: facet.filter || undefined, sort: facet.sort }}
          isCurrent={facet.filter === shown.filter}
        >
          {facet.title}
        </Link>
      ))}
    </nav>
  );
}

/** Names that a select offers. */
const NAMES_MAX = 200;

/** The values of a member, of which one is looked for. */
function FacetSelect({
  of: { member, label, list },
  shown,
  at,
}: {
  of: NonNullable<ObjectType['facetOf']>;
  shown: Shown;
  at: Place;
}) {
  const { value } = useLoad(
    (signal) => readFirst<Stored>(list, { size: NAMES_MAX, signal, once: true }),
    [list],
  );
  const filterOf = (name: string): string => `${member} == ${JSON.stringify(name)}`;
  const names = (value?.items ?? []).map(({ Name }) => String(Name));
  if (names.length === 0) return null;
  return (
    <label class="filter kinds">
      <span>{label}</span>
      <select
        value={names.find((name) => filterOf(name) === shown.filter) ?? ''}
        onChange={({ currentTarget: { value: name } }) =>
          go(hrefOfPart(at, { ...shown, ...FIRST, filter: name && filterOf(name) }))
        }
      >
        <option value="">{TEXT.list.everything}</option>
        {names.map((name) => (
          <option key={name} value={name}>
            {name}
          </option>
        ))}
      </select>
    </label>
  );
}

/** Where the pages of lists begin that this tab has shown: by the address of the first page. */
const begins = new Map<string, (string | undefined)[]>();

/** The ways to other pages. */
function Pager({
  list,
  shown: { page, after },
  next,
  onGo,
}: {
  list: string;
  shown: Shown;
  next: string | undefined;
  onGo: (page: number, after: string | undefined) => void;
}) {
  const known = begins.get(list) ?? [];
  known[page] = after;
  begins.set(list, known);
  const before = page - 1;
  const isKnown = before === 0 || known[before] !== undefined;
  return (
    <nav class="pager" aria-label={TEXT.list.pages}>
      <button type="button" disabled={page === 0} onClick={() => onGo(0, undefined)}>
        {TEXT.list.first}
      </button>
      <button type="button" disabled={!isKnown} onClick={() => onGo(before, known[before])}>
        {TEXT.list.previous}
      </button>
      <button type="button" disabled={next === undefined} onClick={() => onGo(page + 1, next)}>
        {TEXT.list.next}
      </button>
    </nav>
  );
}

/** What is typed is looked for after a pause. */
function Filter({
  label,
  example,
  value,
  onChange,
}: {
  label: string;
  example: string;
  value: string;
  onChange: (value: string) => void;
}) {
  const [typed, setTyped] = useState(value);
  const settled = useSettled(typed, TYPING_MS);
  useEffect(() => {
    if (settled !== value) onChange(settled);
  }, [settled]);
  return (
    <label class="filter">
      <span>{label}</span>
      <input
        type="search"
        value={typed}
        placeholder={example}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
    </label>
  );
}
