import Foundation
import TestSupport
import Testing

@testable import CoreData
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

/// A result with a mutable place in the order.
private final class Item: Hashable {
    let number: Int
    var key: Int
    var section: String

    init(_ number: Int, _ key: Int, _ section: String = "") {
        (self.number, self.key, self.section) = (number, key, section)
    }

    /// The order of a list whose sections are not sorted by their names.
    static func keyOrder(_ first: Item, _ second: Item) -> ComparisonResult {
        first.key < second.key ? .orderedAscending : first.key == second.key ? .orderedSame : .orderedDescending
    }

    static func == (first: Item, second: Item) -> Bool { first === second }
    func hash(into hasher: inout Hasher) { hasher.combine(ObjectIdentifier(self)) }

    static func order(_ first: Item, _ second: Item) -> ComparisonResult {
        let (left, right) = ((first.section, first.key), (second.section, second.key))
        return left < right ? .orderedAscending : left == right ? .orderedSame : .orderedDescending
    }
}

/// Applies changes to a table of sections as list views do: old places first, the last first, then new ones.
private func applied(_ changes: ResultChanges<Item>, to old: [[Int]]) -> [[Int]] {
    var table = old.map { $0.map(Optional.some) }
    for change in changes.deletes + changes.moves {
        if let old = change.old { table[old.section][old.row] = nil }
    }
    var rest = table.map { $0.compactMap { $0 } }
    for section in changes.deletedSections { rest.remove(at: section.index) }
    for section in changes.insertedSections { rest.insert([], at: section.index) }
    let arrivals = (changes.inserts + changes.moves).compactMap { change in change.new.map { (change.element, $0) } }
    for (element, place) in arrivals.sorted(by: { ($0.1.section, $0.1.row) < ($1.1.section, $1.1.row) }) {
        rest[place.section].insert(element.number, at: place.row)
    }
    return rest
}

private func table(_ list: ResultList<Item>) -> [[Int]] {
    list.sections.indices.map { list.elements(inSection: $0).map(\.number) }
}

@Suite("A list of results")
struct ResultListTests {
    @Test("Whatever changes, applying what is told to the old table gives the new one", arguments: [false, true])
    func tablesFollow(isSectioned: Bool) throws {
        var random = SplitMix(state: isSectioned ? 7 : 8)
        for round in 0..<60 {
            var next = 0
            func make() -> Item {
                next += 1
                let section = isSectioned ? String(Int.random(in: 0..<6, using: &random)) : ""
                return Item(next, Int.random(in: 0..<12, using: &random), section)
            }
            var members = (0..<Int.random(in: 0..<40, using: &random)).map { _ in make() }
            members = members.enumerated().sorted {
                let order = Item.order($0.element, $1.element)
                return order == .orderedSame ? $0.offset < $1.offset : order == .orderedAscending
            }.map(\.element)
            var list = isSectioned ? try ResultList(members, sectionName: \.section) : ResultList(members)
            for _ in 0..<40 {
                var batch = ResultBatch<Item>()
                for member in members.shuffled(using: &random).prefix(Int.random(in: 0..<8, using: &random)) {
                    if Bool.random(using: &random) {
                        batch.leaving.append(member)
                    } else {
                        batch.touched.append(member)
                        let other = make()
                        if Bool.random(using: &random) { (member.key, member.section) = (other.key, other.section) }
                    }
                }
                batch.arriving = (0..<Int.random(in: 0..<5, using: &random)).map { _ in make() }
                let old = table(list)
                let changes = list.apply(batch, sectionName: \.section, order: Item.order)
                members = members.filter { !batch.leaving.contains($0) } + batch.arriving
                let new = table(list)
                #expect(applied(changes, to: old) == new, "round \(round)")
                #expect(Set(new.joined()) == Set(members.map(\.number)))
                let elements = list.entries.elements
                #expect(zip(elements, elements.dropFirst()).allSatisfy { Item.order($0, $1) != .orderedDescending })
                #expect(changes.inserts.count == batch.arriving.count)
                #expect(changes.deletes.count == batch.leaving.count)
                #expect(changes.moves.count + changes.updates.count == batch.touched.count)
            }
        }
    }

    @Test("An element whose key changed but that keeps its place among the others is updated, not moved")
    func keepsPlace() {
        let items = [Item(0, 10), Item(1, 20), Item(2, 30)]
        var list = ResultList(items)
        items[1].key = 25
        let changes = list.apply(.init(touched: [items[1]]), sectionName: \.section, order: Item.order)
        #expect(changes.moves.isEmpty)
        #expect(changes.updates.map(\.old) == [ResultPlace(section: 0, row: 1)])
    }

    @Test("Of two elements that change places, one is moved and the other updated")
    func swapped() {
        let items = [Item(0, 10), Item(1, 20)]
        var list = ResultList(items)
        (items[0].key, items[1].key) = (20, 10)
        let changes = list.apply(.init(touched: items), sectionName: \.section, order: Item.order)
        #expect(changes.moves.map(\.element.number) == [1])
        #expect(changes.updates.map(\.element.number) == [0])
    }

    @Test("A section goes with its last element and comes with its first")
    func sectionsComeAndGo() throws {
        let items = [Item(0, 1, "A"), Item(1, 1, "B"), Item(2, 1, "D")]
        var list = try ResultList(items, sectionName: \.section)
        items[1].section = "C"
        let changes = list.apply(.init(touched: [items[1]]), sectionName: \.section, order: Item.order)
        #expect(changes.deletedSections.map(\.name) == ["B"])
        #expect(changes.deletedSections.map(\.index) == [1])
        #expect(changes.insertedSections.map(\.name) == ["C"])
        #expect(changes.insertedSections.map(\.index) == [1])
        #expect(changes.moves.map(\.old) == [ResultPlace(section: 1, row: 0)])
        #expect(changes.moves.map(\.new) == [ResultPlace(section: 1, row: 0)])
    }

    @Test("A section whose elements sort elsewhere now goes there")
    func sectionMoves() throws {
        let items = [Item(0, 1, "A"), Item(1, 2, "B")]
        var list = try ResultList(items, sectionName: \.section)
        items[0].key = 3
        let changes = list.apply(.init(touched: [items[0]]), sectionName: \.section, order: Item.keyOrder)
        #expect(table(list) == [[1], [0]])
        #expect(applied(changes, to: [[0], [1]]) == [[1], [0]])
    }

    @Test("Whatever order its sections get, the list is in the order of its elements")
    func sectionsInAnyOrder() throws {
        var random = SplitMix(state: 9)
        for round in 0..<60 {
            var ranks = Array(0..<5).shuffled(using: &random)
            let items = (0..<Int.random(in: 1..<14, using: &random)).map { number in
                let group = Int.random(in: 0..<5, using: &random)
                return Item(number, ranks[group] * 100 + number, String(group))
            }.sorted { $0.key < $1.key }
            var list = try ResultList(items, sectionName: \.section)
            for _ in 0..<20 {
                if Bool.random(using: &random) {
                    ranks.shuffle(using: &random)
                } else {
                    ranks.swapAt(Int.random(in: 0..<5, using: &random), Int.random(in: 0..<5, using: &random))
                }
                var touched: [Item] = []
                for item in items {
                    guard let group = Int(item.section) else { continue }
                    let key = ranks[group] * 100 + item.number
                    if key != item.key || Int.random(in: 0..<4, using: &random) == 0 { touched.append(item) }
                    item.key = key
                }
                let old = table(list)
                let changes = list.apply(.init(touched: touched), sectionName: \.section, order: Item.keyOrder)
                let keys = list.entries.elements.map(\.key)
                #expect(keys == keys.sorted(), "round \(round)")
                let names = list.sections.indices.map { Set(list.elements(inSection: $0).map(\.section)).count }
                #expect(names.allSatisfy { $0 == 1 })
                #expect(applied(changes, to: old) == table(list), "round \(round)")
            }
        }
    }

    @Test("An element of a section that ended before is named")
    func outOfOrder() {
        let items = [Item(0, 1, "A"), Item(1, 2, "B"), Item(2, 3, "A")]
        #expect(throws: SectionOutOfOrder(index: 2, section: "A")) {
            _ = try ResultList(items, sectionName: \.section)
        }
    }

    @Test("A change compares as many elements as the list's size has binary digits, not all")
    func comparisons() {
        let items = (0..<10_000).map { Item($0, $0 * 2) }
        var list = ResultList(items)
        items[5000].key = 41
        var comparisons = 0
        _ = list.apply(.init(touched: [items[5000]], arriving: [Item(-1, 9001)]), sectionName: \.section) {
            comparisons += 1
            return Item.order($0, $1)
        }
        #expect(comparisons < 40)
        #expect(list.entries[21] === items[5000])
    }

    @Test("However many sections there are, a new element is compared with few, also if its section is new")
    func comparisonsAmongSections() throws {
        let items = (1000..<3000).map { Item($0, 0, String($0)) }
        var list = try ResultList(items, sectionName: \.section)
        var comparisons = 0
        let changes = list.apply(
            .init(arriving: [Item(1, 1, "2500"), Item(2, 0, "25005"), Item(3, 0, "0"), Item(4, 0, "9")]),
            sectionName: \.section
        ) {
            comparisons += 1
            return Item.order($0, $1)
        }
        #expect(comparisons < 80)
        #expect(changes.insertedSections.map(\.index) == [0, 1502, 2002])
        #expect(changes.inserts.map(\.element.number) == [3, 1, 2, 4])
        #expect(list.entries.elements.map(\.section) == list.entries.elements.map(\.section).sorted())
    }
}

@Suite("A chunked list")
struct ChunkedListTests {
    @Test("It behaves as an array does, whatever is inserted and removed")
    func agreesWithArray() {
        var random = SplitMix(state: 3)
        var array: [Int] = Array(0..<50)
        var list = ChunkedList(array, limit: 8)
        for number in 100..<3000 {
            if Int.random(in: 0..<5, using: &random) < 3 {
                let position = Int.random(in: 0...array.count, using: &random)
                array.insert(number, at: position)
                list.insert(number, at: position)
            } else if let victim = array.randomElement(using: &random) {
                array.removeAll { $0 == victim }
                list.remove(victim)
            }
        }
        #expect(list.elements == array)
        #expect(list.count == array.count)
        #expect(array.indices.allSatisfy { list.position(of: array[$0]) == $0 && list[$0] == array[$0] })
        #expect(list[3..<20] == Array(array[3..<20]))
        #expect(list.position(of: -1) == nil)
    }
}
