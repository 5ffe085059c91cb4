// Parses C++ into a tree as rows of numbers, one row a node, outer nodes first: gn_tutorial/cpp/page_tree.py reads them.
#include <stdlib.h>
#include <tree_sitter/api.h>

const TSLanguage* tree_sitter_cuda(void);

// The columns of page_tree.py. after: the first row behind those of the nodes inside this one.
typedef struct {
  uint32_t kind, field, start, end, flags, parent, after;
} Row;
enum { NAMED = 1, ERROR = 2, MISSING = 4, HAS_ERROR = 8 };

static Row* rows;
static uint32_t count, room;

static uint32_t Append(const TSTreeCursor* cursor, uint32_t parent) {
  if (count == room) {
    room = room ? 2 * room : 4096;
    rows = realloc(rows, room * sizeof *rows);
    if (!rows) abort();
  }
  const TSNode node = ts_tree_cursor_current_node(cursor);
  rows[count] = (Row){
      .kind = ts_node_symbol(node),
      .field = ts_tree_cursor_current_field_id(cursor),
      .start = ts_node_start_byte(node),
      .end = ts_node_end_byte(node),
      .flags = NAMED * ts_node_is_named(node) + ERROR * ts_node_is_error(node) + MISSING * ts_node_is_missing(node) +
               HAS_ERROR * ts_node_has_error(node),
      .parent = parent,
  };
  return count++;
}

static void Walk(TSNode root) {
  TSTreeCursor cursor = ts_tree_cursor_new(root);
  count = 0;
  uint32_t at = Append(&cursor, 0);
  for (;;) {
    if (ts_tree_cursor_goto_first_child(&cursor)) {
      at = Append(&cursor, at);
      continue;
    }
    rows[at].after = count;
    while (!ts_tree_cursor_goto_next_sibling(&cursor)) {
      if (!ts_tree_cursor_goto_parent(&cursor)) {
        ts_tree_cursor_delete(&cursor);
        return;
      }
      at = rows[at].parent;
      rows[at].after = count;
    }
    at = Append(&cursor, rows[at].parent);
  }
}

// Returns the number of rows of a UTF-8 text, which are at `Rows` until the next call.
uint32_t Parse(const char* text, uint32_t bytes) {
  TSParser* parser = ts_parser_new();
  ts_parser_set_language(parser, tree_sitter_cuda());
  TSTree* tree = ts_parser_parse_string(parser, NULL, text, bytes);
  Walk(ts_tree_root_node(tree));
  ts_tree_delete(tree);
  ts_parser_delete(parser);
  return count;
}
const Row* Rows(void) { return rows; }

// Names by number. Field 0 is none.
uint32_t Kinds(void) { return ts_language_symbol_count(tree_sitter_cuda()); }
const char* Kind(uint32_t id) { return ts_language_symbol_name(tree_sitter_cuda(), id); }
uint32_t Fields(void) { return ts_language_field_count(tree_sitter_cuda()) + 1; }
const char* Field(uint32_t id) { return ts_language_field_name_for_id(tree_sitter_cuda(), id); }
