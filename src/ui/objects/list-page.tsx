/** The page of a list: filter, table, and the way to a new object. */
import type { ComponentChildren } from 'preact';
import { useEffect, useState } from 'preact/hooks';
import type { Stored } from '../api/types.js';
import { Form } from '../parts/form.js';
import { Link } from '../parts/link.js';
import { useSettled } from '../parts/load.js';
import { Empty, ProblemNotice, Status } from '../parts/notice.js';
import { Page } from '../parts/page.js';
import { Table } from '../parts/table.js';
import { go, hrefOf, type Place, readdress } from '../router.js';
import { TEXT } from '../texts.js';
import { Note } from './note.js';
import type { ObjectType } from './type.js';
import { PAGE_SIZE, useList } from './use-list.js';

const TYPING_MS = 250;

/** The list of a type. Filter and page stand in the address. */
export function ListPage({
  type,
  at,
  title = type.title,
  children,
}: {
  type: ObjectType;
  at: Place;
  title?: string;
  children?: ComponentChildren;
}) {
  const parts = at.parts.slice(1);
  const typed = at.query.get('filter') ?? '';
  const page = Math.max(0, Number(at.query.get('page') ?? 1) - 1 || 0);
  const ns = at.query.get('ns') ?? '';
  const path = type.list(parts);
  const list = useList(path, { typed, members: type.searched, page }, ns);
  const { items = [], hasMore = false, skipped = 0 } = list.value ?? {};
  const hrefOfPage = (to: number, filter = typed): string =>
    hrefOf(at.parts, {
      filter: filter === '' ? undefined : filter,
      page: to === 0 ? undefined : String(to + 1),
    });
  return (
    <Page title={title}>
      <Note />
      {children}
      <div class="toolbar">
        <Filter key={at.visit} value={typed} onChange={(next) => readdress(hrefOfPage(0, next))} />
        <Link to={at.parts} query={{ new: '' }} kind="button">
          {TEXT.list.create(type.noun)}
        </Link>
      </div>
      <ProblemNotice problem={list.problem} />
      <Status>
        {list.isSlow
          ? TEXT.list.reading
          : list.value !== undefined && TEXT.list.shown(skipped, items.length, hasMore)}
      </Status>
      {list.isSlow && <Progress skipped={list.skipped} from={page * PAGE_SIZE} />}
      {list.value !== undefined && items.length === 0 && (
        <Empty>
          {skipped > 0 ? TEXT.list.ended : typed === '' ? type.empty : TEXT.list.noMatch}
        </Empty>
      )}
      {items.length > 0 && (
        <ListTable type={type} title={title} items={items} isOld={list.isSlow} />
      )}
      {(page > 0 || hasMore) && (
        <Pager
          key={page}
          page={page}
          end={hasMore ? undefined : skipped + items.length}
          onGo={(to) => go(hrefOfPage(to))}
        />
      )}
    </Page>
  );
}

/** How far the reading has come. How long a filter takes is not known. */
function Progress({ skipped, from }: { skipped: number; from: number }) {
  return (
    <p class="reading">
      <progress aria-label={TEXT.list.reading} max={from || 1} value={skipped || undefined} />{' '}
      {skipped > 0 && TEXT.list.passed(skipped, from)}
    </p>
  );
}

/** The ways to other pages, counted from 0. `end` is the length of the list once it is known. */
function Pager({
  page,
  end,
  onGo,
}: {
  page: number;
  end: number | undefined;
  onGo: (page: number) => void;
}) {
  const last = end === undefined ? page : Math.max(0, Math.ceil(end / PAGE_SIZE) - 1);
  const [typed, setTyped] = useState(String(page + 1));
  const wanted = Number(typed) - 1;
  const mayGo = Number.isInteger(wanted) && wanted >= 0 && wanted !== page;
  return (
    <nav class="pager" aria-label={TEXT.list.pages}>
      <button type="button" disabled={page === 0} onClick={() => onGo(Math.min(page - 1, last))}>
        {TEXT.list.previous}
      </button>
      <Form
        onSubmit={() => {
          if (mayGo) onGo(wanted);
        }}
      >
        <label>
          <span>{TEXT.list.page}</span>
          <input
            inputmode="numeric"
            value={typed}
            autocomplete="off"
            onInput={(event) => setTyped(event.currentTarget.value)}
          />
        </label>
        <button type="submit" disabled={!mayGo}>
          {TEXT.list.go}
        </button>
      </Form>
      <button type="button" disabled={end !== undefined} onClick={() => onGo(page + 1)}>
        {TEXT.list.next}
      </button>
    </nav>
  );
}

/** The objects of a page. The first cell of a row leads to its object. */
function ListTable({
  type,
  title,
  items,
  isOld,
}: {
  type: ObjectType;
  title: string;
  items: readonly Stored[];
  /** Whether another page is being read. */
  isOld: boolean;
}) {
  return (
    <Table
      caption={title}
      label={TEXT.list.table(title)}
      columns={type.columns.map((column) => column.title)}
      isBusy={isOld}
    >
      {items.map((object) => (
        <tr key={type.idOf(object).join('/')}>
          {type.columns.map(({ title: heading, cell }, nth) => (
            <td key={heading}>
              {nth > 0 ? (
                cell(object)
              ) : (
                <Link to={[type.slug, ...type.idOf(object)]}>{cell(object)}</Link>
              )}
            </td>
          ))}
        </tr>
      ))}
    </Table>
  );
}

/** What is typed is looked for after a pause. */
function Filter({ value, onChange }: { value: string; onChange: (value: string) => void }) {
  const [typed, setTyped] = useState(value);
  const settled = useSettled(typed, TYPING_MS);
  useEffect(() => {
    if (settled !== value) onChange(settled);
  }, [settled]);
  return (
    <label class="filter">
      <span>{TEXT.list.filter}</span>
      <input
        type="search"
        value={typed}
        placeholder={TEXT.list.filterExample}
        spellcheck={false}
        autocomplete="off"
        onInput={(event) => setTyped(event.currentTarget.value)}
      />
    </label>
  );
}
