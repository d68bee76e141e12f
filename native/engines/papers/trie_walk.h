/* trie_walk.h - walks a text along a trie, and finds the closest constants. Law: see trie.h. */
#ifndef TM_PAPERS_TRIE_WALK_H
#define TM_PAPERS_TRIE_WALK_H

#include "engines/papers/trie.h"

/* Return the constraint of `=` at exactly this text, or 0. */
uint32_t tm_trie_equal(const tm_text_index *trie, const uint8_t *text, uint32_t length);
/* Walk along `text`; with `found`, report `prefix` and `contains` of every constant that it begins with. */
tm_spot tm_trie_walk(const tm_text_index *trie, const uint8_t *text, uint32_t length, tm_found *found);
/* Return the constant equal to the text of that walk, or 0. */
uint32_t tm_trie_complete(const tm_text_index *trie, const tm_spot *spot, const uint8_t *text, uint32_t length);
/* Return the closest constant with `mark` strictly above, or below, the text of that walk; 0 if there is none. */
uint32_t tm_trie_above(const tm_text_index *trie, const tm_spot *spot, const uint8_t *text, uint32_t length,
                       uint32_t mark);
uint32_t tm_trie_below(const tm_text_index *trie, const tm_spot *spot, const uint8_t *text, uint32_t length,
                       uint32_t mark);

#endif
