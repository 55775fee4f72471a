//! Nodes in the order that a strategy wants, in blocks that know the most that is free in them.
//!
//! A request looks at a node only where its block has enough of everything, so that passing by a full
//! fleet costs a step for each block and not for each node. A block's measure is never too low: it is
//! raised with every node that comes, and what is free only becomes less. It is taken anew when somebody
//! went through the block in vain. The same holds for the measure of the whole.
//!
//! Under most strategies a node only gets worse by being given something. Then nothing is done about
//! it: it is found too early, never too late, and is put to its new place by whoever comes upon it. So an
//! order costs nothing while nobody asks for it, and there may be many. Where a node gets better
//! (`bin-pack`), what was moved is followed before an order is used.

use hostler_model::{Reservation, Resources};

use super::devices::asked_cores;
use super::offer::NodeOffer;

/// The smaller the better: a measure in the upper bits, how much runs there in the lower.
pub(super) type Key = u64;

/// How many nodes a new block has; it is split at twice as many.
const BLOCK: usize = 64;

/// Amounts that compare: what is free of a node, or what is asked of one.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Room {
    pub cores: u32,
    /// Of which any part at all is free.
    pub gpus: u32,
    pub memory: u64,
    pub disk: u64,
}

impl Room {
    /// What is free of a node.
    pub fn free(node: &NodeOffer) -> Room {
        let free = node.free();
        let gpus = node.gpus.iter().filter(|gpu| gpu.free() > 0).count();
        Room {
            cores: free.cores.millis(),
            gpus: number(gpus),
            memory: free.memory.get(),
            disk: free.disk.get(),
        }
    }

    /// The most that can ever be free of a node.
    pub fn whole(node: &NodeOffer) -> Room {
        Room {
            cores: node.capacity.cores.millis(),
            gpus: number(node.gpus.len()),
            memory: node.capacity.memory.get(),
            disk: node.capacity.disk.get(),
        }
    }

    pub fn asked(resources: &Resources) -> Room {
        Room {
            cores: asked_cores(resources).millis(),
            gpus: resources.gpus.count,
            memory: resources.memory.get(),
            disk: resources.disk.get(),
        }
    }

    /// Adds what something holds; of GPUs as many as the node has.
    pub fn give_back(&mut self, held: &Reservation, node: &NodeOffer) {
        self.cores = self.cores.saturating_add(held.cores.millis());
        self.memory = self.memory.saturating_add(held.memory.get());
        self.disk = self.disk.saturating_add(held.disk.get());
        self.gpus = number(node.gpus.len());
    }

    pub fn covers(&self, asked: &Room) -> bool {
        asked.cores <= self.cores
            && asked.memory <= self.memory
            && asked.disk <= self.disk
            && asked.gpus <= self.gpus
    }

    fn raise(&mut self, other: &Room) {
        self.cores = self.cores.max(other.cores);
        self.gpus = self.gpus.max(other.gpus);
        self.memory = self.memory.max(other.memory);
        self.disk = self.disk.max(other.disk);
    }
}

fn number(count: usize) -> u32 {
    u32::try_from(count).unwrap_or(u32::MAX)
}

/// Nodes by how good they were for a strategy when they were last looked at.
#[derive(Default)]
pub(super) struct Order {
    /// None is empty.
    blocks: Vec<Block>,
    /// Of all blocks.
    most: Room,
    /// How many of the moves that make nodes better it has followed.
    followed: usize,
}

/// A node that became better by being given something.
#[derive(Clone, Copy)]
pub(super) struct Move {
    pub at: u32,
    pub from: Key,
    pub to: Key,
}

/// What is true of all nodes now.
#[derive(Clone, Copy)]
pub(super) struct Now<'n> {
    pub keys: &'n [Key],
    pub free: &'n [Room],
}

impl Now<'_> {
    fn entry(&self, at: u32) -> Entry {
        (self.keys[at as usize], at)
    }
}

/// How far somebody has come in an order.
#[derive(Default)]
pub(super) struct Cursor {
    block: usize,
    index: usize,
    /// How many nodes and blocks were looked at.
    pub looks: usize,
}

/// A node with how good it is.
type Entry = (Key, u32);

struct Block {
    /// Sorted.
    entries: Vec<Entry>,
    last: Entry,
    most: Room,
    /// Whether a node has left since the measure was taken.
    is_loose: bool,
}

impl Block {
    fn of(entries: Vec<Entry>, free: &[Room]) -> Block {
        let last = entries.last().copied().unwrap_or_default();
        let mut block = Block { entries, last, most: Room::default(), is_loose: false };
        block.measure(free);
        block
    }

    fn measure(&mut self, free: &[Room]) {
        (self.most, self.is_loose) = (Room::default(), false);
        for (_, at) in &self.entries {
            self.most.raise(&free[*at as usize]);
        }
    }
}

impl Order {
    /// `places` are the positions of those that are in the order; it has followed so many moves.
    pub fn of(places: &[u32], followed: usize, now: Now<'_>) -> Order {
        let mut entries: Vec<Entry> = places.iter().map(|at| now.entry(*at)).collect();
        entries.sort_unstable();
        let blocks = entries.chunks(BLOCK).map(|part| Block::of(part.to_vec(), now.free)).collect();
        let mut order = Order { blocks, most: Room::default(), followed };
        order.measure();
        order
    }

    fn measure(&mut self) {
        self.most = Room::default();
        self.blocks.iter().for_each(|block| self.most.raise(&block.most));
    }

    /// The next node, best first, of those in blocks that may have enough.
    pub fn next(&mut self, cursor: &mut Cursor, asked: &Room, now: Now<'_>) -> Option<u32> {
        if !self.most.covers(asked) {
            cursor.looks += 1;
            return None;
        }
        loop {
            let Some(block) = self.blocks.get_mut(cursor.block) else {
                self.measure();
                return None;
            };
            if cursor.index == 0 && !block.most.covers(asked) {
                (cursor.block, cursor.looks) = (cursor.block + 1, cursor.looks + 1);
                continue;
            }
            let Some((key, at)) = block.entries.get(cursor.index).copied() else {
                if block.is_loose {
                    block.measure(now.free);
                }
                (cursor.block, cursor.index) = (cursor.block + 1, 0);
                continue;
            };
            cursor.looks += 1;
            if now.keys[at as usize] == key {
                cursor.index += 1;
                return Some(at);
            }
            self.put_right(cursor, now);
        }
    }

    /// Puts the node at the cursor, which became worse, to its new place.
    fn put_right(&mut self, cursor: &Cursor, now: Now<'_>) {
        let is_last_block = cursor.block + 1 == self.blocks.len();
        let Some(block) = self.blocks.get_mut(cursor.block) else { return };
        let entry = now.entry(block.entries[cursor.index].1);
        let is_in_place = match block.entries.get(cursor.index + 1) {
            Some(next) => entry < *next,
            None => is_last_block,
        };
        block.is_loose = true;
        if is_in_place {
            block.entries[cursor.index] = entry;
            block.last = block.last.max(entry);
            return;
        }
        block.entries.remove(cursor.index);
        self.left(cursor.block);
        self.insert(entry, now.free);
    }

    /// A node has left a block.
    fn left(&mut self, block: usize) {
        match self.blocks[block].entries.last() {
            Some(last) => self.blocks[block].last = *last,
            None => drop(self.blocks.remove(block)),
        }
    }

    /// Follows nodes that became better; whatever became worse is noticed when it comes up.
    pub fn follow(&mut self, moves: &[Move], free: &[Room]) {
        for Move { at, from, to } in &moves[self.followed..] {
            let from = (*from, *at);
            let index = self.block_of(from);
            let Some(block) = self.blocks.get_mut(index) else { continue };
            let Ok(place) = block.entries.binary_search(&from) else { continue };
            block.entries.remove(place);
            block.is_loose = true;
            self.left(index);
            self.insert((*to, *at), free);
        }
        self.followed = moves.len();
    }

    fn block_of(&self, entry: Entry) -> usize {
        self.blocks.partition_point(|block| block.last < entry)
    }

    pub fn insert(&mut self, entry: Entry, free: &[Room]) {
        self.most.raise(&free[entry.1 as usize]);
        let to = self.block_of(entry).min(self.blocks.len().saturating_sub(1));
        let Some(block) = self.blocks.get_mut(to) else {
            self.blocks.push(Block::of(vec![entry], free));
            return;
        };
        let index = block.entries.partition_point(|other| *other < entry);
        block.entries.insert(index, entry);
        block.last = block.last.max(entry);
        block.most.raise(&free[entry.1 as usize]);
        if block.entries.len() > 2 * BLOCK {
            let rest = block.entries.split_off(BLOCK);
            block.last = block.entries.last().copied().unwrap_or_default();
            block.measure(free);
            self.blocks.insert(to + 1, Block::of(rest, free));
        }
    }
}

/// The most that each of some nodes can come to offer; it may be too much, and is never too little.
pub(super) struct Reach {
    each: Vec<Room>,
    blocks: Vec<Room>,
}

impl Reach {
    pub fn of(each: Vec<Room>) -> Reach {
        let most = |part: &[Room]| {
            part.iter().fold(Room::default(), |mut most, room| {
                most.raise(room);
                most
            })
        };
        Reach { blocks: each.chunks(BLOCK).map(most).collect(), each }
    }

    /// Which of them can come to offer so much.
    pub fn covering(&self, asked: &Room) -> impl Iterator<Item = usize> {
        let good = self.blocks.iter().enumerate().filter(|(_, most)| most.covers(asked));
        let nodes = good.flat_map(|(block, _)| {
            let begin = block * BLOCK;
            begin..self.each.len().min(begin + BLOCK)
        });
        nodes.filter(|index| self.each[*index].covers(asked))
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// All nodes that have enough, as somebody finds them who goes through an order.
    fn found(order: &mut Order, asked: &Room, now: Now<'_>) -> Vec<u32> {
        let mut cursor = Cursor::default();
        std::iter::from_fn(|| order.next(&mut cursor, asked, now))
            .filter(|at| now.free[*at as usize].covers(asked))
            .collect()
    }

    fn order_is_whole(order: &Order, open: &[u32], free: &[Room]) {
        let mut places: Vec<u32> = Vec::new();
        let mut last = None;
        for block in &order.blocks {
            assert_eq!(block.entries.last(), Some(&block.last));
            assert!(last < block.entries.first().copied() && block.entries.is_sorted());
            last = Some(block.last);
            let mut most = Room::default();
            block.entries.iter().for_each(|(_, at)| most.raise(&free[*at as usize]));
            assert!(block.most.covers(&most), "{:?} {most:?}", block.most);
            assert!(order.most.covers(&most), "{:?} {most:?}", order.most);
            places.extend(block.entries.iter().map(|(_, at)| *at));
        }
        places.sort_unstable();
        assert_eq!(places, open);
    }

    proptest! {
        #[test]
        fn an_order_finds_what_sorting_finds_and_never_hides_room(
            size in 1usize..400,
            is_improving in any::<bool>(),
            changes in proptest::collection::vec((0usize..400, 0u64..50, 0u32..100, 0u32..110), 0..300),
        ) {
            let mut keys: Vec<Key> = (0..size as u64).map(|n| 5000 + n % 7).collect();
            let mut free = vec![Room { cores: 100, memory: 100, ..Room::default() }; size];
            let open: Vec<u32> = (0..number(size)).filter(|at| at % 5 != 3).collect();
            let mut order = Order::of(&open, 0, Now { keys: &keys, free: &free });
            let mut moves: Vec<Move> = Vec::new();
            for (at, step, cores, asked) in changes {
                let at = open[at % open.len()] as usize;
                free[at].cores = free[at].cores.min(cores);
                let from = keys[at];
                keys[at] = if is_improving { from.saturating_sub(step) } else { from + step };
                if is_improving {
                    moves.push(Move { at: number(at), from, to: keys[at] });
                }
                if asked < 100 {
                    order.follow(&moves, &free);
                    let now = Now { keys: &keys, free: &free };
                    let asked = Room { cores: asked, ..Room::default() };
                    let mut sorted = open.clone();
                    sorted.retain(|at| free[*at as usize].covers(&asked));
                    sorted.sort_unstable_by_key(|at| now.entry(*at));
                    prop_assert_eq!(found(&mut order, &asked, now), sorted);
                    order_is_whole(&order, &open, &free);
                }
            }
        }

        #[test]
        fn reach_finds_what_looking_at_all_finds(
            rooms in proptest::collection::vec((0u32..9, 0u64..9), 0..300),
            asked in (0u32..9, 0u64..9),
        ) {
            let room = |(cores, memory)| Room { cores, memory, ..Room::default() };
            let rooms: Vec<Room> = rooms.into_iter().map(room).collect();
            let asked = room(asked);
            let all: Vec<usize> = (0..rooms.len()).filter(|at| rooms[*at].covers(&asked)).collect();
            prop_assert_eq!(Reach::of(rooms).covering(&asked).collect::<Vec<_>>(), all);
        }
    }
}
