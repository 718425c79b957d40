/* SPDX-License-Identifier: MIT */
/*
 * exportsqlite.c - everything as tables; docs/trace-reports.md describes them.
 *
 * All rows are written in one transaction into a new file.
 */
#include <errno.h>
#include <sqlite3.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "exportform.h"
#include "tool.h"

static const char schema[] =
	"CREATE TABLE meta (key TEXT PRIMARY KEY, value);"
	"CREATE TABLE modules (id INTEGER PRIMARY KEY, path TEXT,"
	" build_id BLOB, start INTEGER, end INTEGER, bias INTEGER);"
	"CREATE TABLE places (id INTEGER PRIMARY KEY, function TEXT,"
	" symbol TEXT, file TEXT, line INTEGER, module INTEGER"
	" REFERENCES modules);"
	"CREATE TABLE stacks (id INTEGER PRIMARY KEY, place INTEGER"
	" REFERENCES places, bytes INTEGER, calls INTEGER, frees INTEGER,"
	" peak INTEGER, leaked INTEGER, leaked_blocks INTEGER,"
	" temporary INTEGER, usable INTEGER, reallocs INTEGER,"
	" failed INTEGER, max_size INTEGER);"
	"CREATE TABLE frames (stack INTEGER REFERENCES stacks,"
	" depth INTEGER, place INTEGER REFERENCES places,"
	" PRIMARY KEY (stack, depth)) WITHOUT ROWID;"
	"CREATE TABLE threads (id INTEGER PRIMARY KEY, tid INTEGER,"
	" name TEXT, bytes INTEGER, calls INTEGER, frees INTEGER,"
	" foreign_frees INTEGER, temporary INTEGER, peak INTEGER,"
	" leaked INTEGER);"
	"CREATE TABLE timeline (start_ns INTEGER PRIMARY KEY, peak INTEGER,"
	" live INTEGER, calls INTEGER, frees INTEGER, bytes INTEGER);"
	"CREATE TABLE live (start_ns INTEGER, stack INTEGER REFERENCES"
	" stacks, live INTEGER, PRIMARY KEY (start_ns, stack))"
	" WITHOUT ROWID;"
	"CREATE TABLE sizes (from_size INTEGER PRIMARY KEY, calls INTEGER,"
	" bytes INTEGER, usable INTEGER);"
	"CREATE TABLE lifetimes (class INTEGER PRIMARY KEY,"
	" below_ns INTEGER, calls INTEGER);"
	"CREATE VIEW sites AS SELECT function, file, line, path AS module,"
	" sum(bytes) AS bytes, sum(calls) AS calls, sum(peak) AS peak,"
	" sum(leaked) AS leaked, sum(temporary) AS temporary FROM stacks"
	" LEFT JOIN places ON places.id = place LEFT JOIN modules ON"
	" modules.id = module GROUP BY place ORDER BY bytes DESC;";

/* A statement that inserts rows; columns are bound in turn. */
struct insert {
	sqlite3 *db;
	sqlite3_stmt *statement;
	int column;
	bool failed;
};

static struct insert insert_begin(sqlite3 *db, const char *sql)
{
	struct insert insert = {.db = db};

	insert.failed = sqlite3_prepare_v2(db, sql, -1, &insert.statement,
				NULL) != SQLITE_OK;
	return insert;
}

static void put_number(struct insert *insert, uint64_t value)
{
	sqlite3_bind_int64(
		insert->statement, ++insert->column, (sqlite3_int64)value);
}

static void put_text(struct insert *insert, const char *text)
{
	if (text == NULL) {
		sqlite3_bind_null(insert->statement, ++insert->column);
	} else {
		sqlite3_bind_text(insert->statement, ++insert->column, text, -1,
			SQLITE_STATIC);
	}
}

/* A place or module number, of which 0 means none. */
static void put_reference(struct insert *insert, uint32_t number)
{
	if (number == 0) {
		sqlite3_bind_null(insert->statement, ++insert->column);
	} else {
		put_number(insert, number);
	}
}

static void row_end(struct insert *insert)
{
	insert->failed |= sqlite3_step(insert->statement) != SQLITE_DONE;
	sqlite3_reset(insert->statement);
	insert->column = 0;
}

static bool insert_end(struct insert *insert)
{
	bool good = sqlite3_finalize(insert->statement) == SQLITE_OK;

	return good && !insert->failed;
}

static void meta_text(struct insert *insert, const char *key, const char *text)
{
	put_text(insert, key);
	put_text(insert, text);
	row_end(insert);
}

static void meta_number(struct insert *insert, const char *key, uint64_t value)
{
	put_text(insert, key);
	put_number(insert, value);
	row_end(insert);
}

static bool write_meta(sqlite3 *db, const struct view *view)
{
	const struct trace *t = view->trace;
	const struct totals *n = &t->account.total;
	static const char *const modes[] = {"", "record", "profile", "sample"};
	struct insert i = insert_begin(db, "INSERT INTO meta VALUES (?, ?)");

	meta_number(&i, "version", 1);
	meta_text(&i, "program", t->info.texts[AMUX_TRACE_TEXT_EXE]);
	meta_text(&i, "command", t->info.cmdline);
	meta_text(&i, "allocator", t->info.texts[AMUX_TRACE_TEXT_BACKEND]);
	meta_text(&i, "mode", modes[t->header.mode & 3]);
	meta_number(&i, "pid", t->header.pid);
	meta_number(&i, "start_unix_ns", t->header.real_ns);
	meta_number(&i, "end_ns", t->header.end_ns);
	meta_number(&i, "bytes", n->bytes);
	meta_number(&i, "calls", n->allocs);
	meta_number(&i, "frees", n->frees);
	meta_number(&i, "peak_bytes", n->peak_bytes);
	meta_number(&i, "peak_ns", n->peak_ns);
	meta_number(&i, "leaked_bytes", n->live_bytes);
	meta_number(&i, "temporary", n->temporary);
	meta_number(&i, "step_ns", t->account.timeline.width);
	meta_number(&i, "lost_events", t->lost_events);
	return insert_end(&i);
}

static bool write_modules(sqlite3 *db, const struct view *view)
{
	const struct trace_info *info = &view->trace->info;
	struct insert i = insert_begin(
		db, "INSERT INTO modules VALUES (?, ?, ?, ?, ?, ?)");

	for (uint32_t j = 0; j < info->object_count; j++) {
		const struct trace_object *o = &info->objects[j];

		put_number(&i, j + 1);
		put_text(&i, o->path);
		sqlite3_bind_blob(i.statement, ++i.column, o->build_id,
			(int)o->build_id_length, SQLITE_STATIC);
		put_number(&i, o->start);
		put_number(&i, o->end);
		put_number(&i, o->bias);
		row_end(&i);
	}
	return insert_end(&i);
}

static bool write_places(sqlite3 *db, const struct view *view)
{
	struct insert i = insert_begin(
		db, "INSERT INTO places VALUES (?, ?, ?, ?, ?, ?)");

	for (uint32_t j = 1; j < view->symbols.place_count; j++) {
		const struct place *p = &view->symbols.places[j];

		put_number(&i, j);
		put_text(&i, p->function);
		put_text(&i, p->symbol);
		put_text(&i, p->file);
		put_reference(&i, p->line);
		put_reference(&i, p->object);
		row_end(&i);
	}
	return insert_end(&i);
}

static bool write_stacks(sqlite3 *db, const struct view *view)
{
	struct insert i = insert_begin(db,
		"INSERT INTO stacks VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, "
		"?, ?)");
	struct insert f =
		insert_begin(db, "INSERT INTO frames VALUES (?, ?, ?)");
	bool good;

	for (uint32_t j = 0; j < view->stack_count; j++) {
		const struct view_stack *s = &view->stacks[j];

		put_number(&i, j + 1);
		put_reference(&i, s->count > 0 ? view->paths[s->first] : 0);
		put_number(&i, s->cost.metric[METRIC_BYTES]);
		put_number(&i, s->cost.metric[METRIC_CALLS]);
		put_number(&i, s->cost.frees);
		put_number(&i, s->cost.metric[METRIC_PEAK]);
		put_number(&i, s->cost.metric[METRIC_LEAKED]);
		put_number(&i, s->cost.leaked_calls);
		put_number(&i, s->cost.metric[METRIC_TEMPORARY]);
		put_number(&i, s->cost.usable);
		put_number(&i, s->cost.reallocs);
		put_number(&i, s->cost.failed);
		put_number(&i, s->cost.max_size);
		row_end(&i);
		for (uint32_t k = 0; k < s->count; k++) {
			put_number(&f, j + 1);
			put_number(&f, k);
			put_reference(&f, view->paths[s->first + k]);
			row_end(&f);
		}
	}
	good = insert_end(&i);
	return insert_end(&f) && good;
}

static bool write_threads(sqlite3 *db, const struct view *view)
{
	const struct account *a = &view->trace->account;
	struct insert i = insert_begin(db,
		"INSERT INTO threads VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?)");

	for (uint32_t j = 0; j < a->thread_room; j++) {
		const struct thread_counts *t = &a->threads[j];
		const struct trace_thread_info *info =
			info_thread(&view->trace->info, t->thread);

		if (t->allocs + t->frees == 0) {
			continue;
		}
		put_number(&i, t->thread);
		put_reference(&i, info != NULL ? info->tid : 0);
		put_text(&i, info != NULL ? info->name : NULL);
		put_number(&i, t->bytes);
		put_number(&i, t->allocs);
		put_number(&i, t->frees);
		put_number(&i, t->foreign_frees);
		put_number(&i, t->temporary);
		put_number(&i, t->peak_bytes);
		put_number(&i, t->live_bytes);
		row_end(&i);
	}
	return insert_end(&i);
}

static bool write_timeline(sqlite3 *db, const struct view *view)
{
	const struct timeline *t = &view->trace->account.timeline;
	struct insert i = insert_begin(
		db, "INSERT INTO timeline VALUES (?, ?, ?, ?, ?, ?)");
	struct insert l = insert_begin(db,
		"INSERT INTO live VALUES (?, ?, ?) ON CONFLICT DO UPDATE SET "
		"live = live + excluded.live");
	bool good;

	for (uint32_t j = 0; j < t->count; j++) {
		put_number(&i, t->width * j);
		put_number(&i, t->steps[j].peak);
		put_number(&i, t->steps[j].live);
		put_number(&i, t->steps[j].allocs);
		put_number(&i, t->steps[j].frees);
		put_number(&i, t->steps[j].bytes);
		row_end(&i);
	}
	for (size_t j = 0; j < t->change_count; j++) {
		const struct timeline_change *c = &t->changes[j];

		if (view->stack_of_site[c->site] != 0) {
			put_number(&l, t->width * c->step);
			put_number(&l, view->stack_of_site[c->site]);
			put_number(&l, c->live);
			row_end(&l);
		}
	}
	good = insert_end(&i);
	return insert_end(&l) && good;
}

static bool write_histograms(sqlite3 *db, const struct view *view)
{
	const struct account *a = &view->trace->account;
	struct insert i =
		insert_begin(db, "INSERT INTO sizes VALUES (?, ?, ?, ?)");
	struct insert l =
		insert_begin(db, "INSERT INTO lifetimes VALUES (?, ?, ?)");
	bool good;

	for (unsigned j = 0; j < SIZE_CLASSES; j++) {
		if (a->sizes[j].allocs > 0) {
			put_number(&i, j > 0 ? (uint64_t)1 << (j - 1) : 0);
			put_number(&i, a->sizes[j].allocs);
			put_number(&i, a->sizes[j].bytes);
			put_number(&i, a->sizes[j].usable);
			row_end(&i);
		}
	}
	for (unsigned j = 0; j < AMUX_TRACE_LIFETIMES; j++) {
		put_number(&l, j);
		put_number(&l, j == 0 ? view->trace->header.tick_ns
			       : j == AMUX_TRACE_LIFETIMES - 1
				       ? INT64_MAX
				       : (uint64_t)1000000 << (2 * j));
		put_number(&l, a->lifetimes[j]);
		row_end(&l);
	}
	good = insert_end(&i);
	return insert_end(&l) && good;
}

static bool write_all(sqlite3 *db, const struct view *view)
{
	return sqlite3_exec(db, "PRAGMA journal_mode = OFF; BEGIN", NULL, NULL,
		       NULL) == SQLITE_OK &&
	       sqlite3_exec(db, schema, NULL, NULL, NULL) == SQLITE_OK &&
	       write_meta(db, view) && write_modules(db, view) &&
	       write_places(db, view) && write_stacks(db, view) &&
	       write_threads(db, view) && write_timeline(db, view) &&
	       write_histograms(db, view) &&
	       sqlite3_exec(db, "COMMIT", NULL, NULL, NULL) == SQLITE_OK;
}

bool export_sqlite(const struct export_request *request)
{
	sqlite3 *db = NULL;
	struct stat info;
	bool good;

	if (stat(request->path, &info) == 0 && !S_ISREG(info.st_mode)) {
		tool_error("cannot write a database to %s: not a regular file",
			request->path);
		return false;
	}
	if (unlink(request->path) != 0 && errno != ENOENT) {
		tool_perror("cannot replace %s", request->path);
		return false;
	}
	good = sqlite3_open(request->path, &db) == SQLITE_OK &&
	       write_all(db, request->view);
	if (!good) {
		tool_error("cannot write %s: %s", request->path,
			sqlite3_errmsg(db));
	}
	sqlite3_close(db);
	return good;
}
