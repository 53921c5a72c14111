import TestSupport
import Testing

@testable import PippinRecords
@testable import Pippin

private struct Item: CoreModel, Equatable, Sendable {
    let uid: Int
    var text: String
    var group = "A"
}

@Suite("Lists in sections")
struct ListTests {
    private func list(_ items: Item...) -> SectionedList<Item> { SectionedList(items, by: \.group) }
    private func path(_ section: Int, _ row: Int) -> IndexPath { IndexPath(indexes: [section, row]) }

    @Test("have sections in the order of their first models, and index paths")
    func sections() {
        let list = list(Item(uid: 1, text: "a"), Item(uid: 2, text: "b", group: "B"), Item(uid: 3, text: "c"))
        #expect(list.sections.map(\.name) == ["A", "B"])
        #expect(list[path(0, 1)].uid == 3)
        #expect(list.indexPath(of: 2) == path(1, 0))
        #expect(list.indexPath(of: 9) == nil)
        #expect(list.count == 3)
        #expect(list.models.map(\.uid) == [1, 3, 2])
    }

    @Test("tell rows that come, go, move and change")
    func rows() {
        let former = list(Item(uid: 1, text: "a"), Item(uid: 2, text: "b"), Item(uid: 3, text: "c"))
        let new = list(Item(uid: 3, text: "c"), Item(uid: 1, text: "A"), Item(uid: 4, text: "d"))
        let changes = new.changes(from: former)
        #expect(changes.removals == [path(0, 1)])
        #expect(changes.insertions == [path(0, 2)])
        #expect(changes.updates == [path(0, 1)])
        #expect(changes.moves.count == 1)
        #expect(new.changes(from: new).isEmpty)
    }

    @Test("tell sections that come and go without their rows, and rows that change their section")
    func movedSections() {
        let former = list(
            Item(uid: 1, text: "a"), Item(uid: 2, text: "b", group: "B"), Item(uid: 3, text: "c", group: "C"))
        let new = list(
            Item(uid: 1, text: "a", group: "C"), Item(uid: 3, text: "c", group: "C"),
            Item(uid: 5, text: "e", group: "E"))
        let changes = new.changes(from: former)
        #expect(changes.removedSections == IndexSet([0, 1]))
        #expect(changes.insertedSections == IndexSet([1]))
        // Its section went with it, so the row comes new.
        #expect(changes.insertions == [path(0, 0)])
        #expect(changes.removals.isEmpty)
        #expect(changes.updates.isEmpty)
        let back = former.changes(from: new)
        #expect(back.insertedSections == IndexSet([0, 1]))
        #expect(back.removals == [path(0, 0)])
    }

    /// Does to a list of rows what a table view would.
    private func apply(_ changes: ListChanges, to former: SectionedList<Item>, _ new: SectionedList<Item>) -> [[Int]] {
        var sections = former.sections.map { $0.models.map { Optional($0.uid) } }
        for place in changes.removals + changes.moves.map(\.from) { sections[place[0]][place[1]] = nil }
        for section in changes.removedSections.reversed() { sections.remove(at: section) }
        var rows = sections.map { $0.compactMap(\.self) }
        for section in changes.insertedSections { rows.insert(new.sections[section].models.map(\.uid), at: section) }
        let places = (changes.insertions + changes.moves.map(\.to)).sorted { ($0[0], $0[1]) < ($1[0], $1[1]) }
        for place in places { rows[place[0]].insert(new[place].uid, at: min(place[1], rows[place[0]].count)) }
        return rows
    }

    @Test("tell changes that make the one list of the other, for random lists", arguments: 0..<40)
    func random(seed: Int) {
        var generator = SplitMix(state: UInt64(seed))
        func randomList() -> SectionedList<Item> {
            let uids = (0..<12).filter { _ in Bool.random(using: &generator) }.shuffled(using: &generator)
            return SectionedList(
                uids.map {
                    Item(
                        uid: $0, text: "\(Int.random(in: 0..<2, using: &generator))",
                        group: ["A", "B", "C"].randomElement(using: &generator) ?? "A")
                },
                by: \.group)
        }
        let (former, new) = (randomList(), randomList())
        let applied = apply(new.changes(from: former), to: former, new)
        #expect(applied == new.sections.map { $0.models.map(\.uid) })
    }

    @Test("follow a live query")
    func live() async throws {
        let manager = PersistenceManager(models: Coin.self, store: .memory)
        try await manager.save([Coin(code: "EUR", worth: 1), Coin(code: "USD", worth: 0.9)])
        var updates = manager.observe(Coin.self, sortedBy: .ascending(\.code)).sections { String($0.code.prefix(1)) }
            .makeAsyncIterator()
        #expect(try await updates.next()?.changes.insertedSections == IndexSet([0, 1]))
        try await manager.save(Coin(code: "ESP", worth: 0.006))
        let update = try await updates.next()
        #expect(update?.list.sections.map(\.name) == ["E", "U"])
        #expect(update?.changes.insertions == [path(0, 0)])
    }
}

private struct Coin: CoreModel {
    let code: String
    var worth: Double
    var id: String { code }
}

@Suite("Fetched collections and observers of records")
struct FetchedCollectionTests {
    private let shelf: Shelf
    private let context: NSManagedObjectContext
    private var manager: PersistenceManager { shelf.manager }

    init() throws {
        shelf = try Shelf()
        try shelf.save([.ada, .blaise, .carl])
        context = shelf.manager.backgroundContext()
    }

    @Test("are collections with sections and index paths that follow their context")
    func following() throws {
        try context.performAndWait {
            let people = try FetchedCollection<PersonRecord>(
                in: context, sortDescriptors: [NSSortDescriptor(key: "name", ascending: true)], sectionedBy: "name")
            #expect(people.map { $0.value(forKey: "id") as? String } == ["a", "b", "c"])
            #expect(people.sectionNames == ["Ada", "Blaise", "Carl"])
            #expect(people.indexPath(of: people[2]) == IndexPath(indexes: [2, 0]))
            #expect(people[IndexPath(indexes: [1, 0])] === people[1])
            var told: [ListChanges] = []
            people.onChange = { told.append($0) }
            context.delete(people[0])
            try PersonRecord.insertOrUpdate(uid: "d", in: context) { $0.setValue("Carl", forKey: "name") }
            context.processPendingChanges()
            #expect(people.count == 3)
            #expect(people.count(inSection: 1) == 2)
            // The second change looks for its record, which ends the first event.
            let removed = told.map(\.removedSections)
            #expect(removed == [IndexSet([0]), IndexSet()])
            #expect(told.allSatisfy { $0.removals.isEmpty })
            #expect(told.last?.insertions.map { $0[0] } == [1])
        }
    }

    @Test("list no rows of sections that come or go, as lists of structs do not")
    func movesBetweenSections() throws {
        try context.performAndWait {
            let people = try FetchedCollection<PersonRecord>(
                in: context, sortDescriptors: [NSSortDescriptor(key: "name", ascending: true)], sectionedBy: "name")
            var told: [ListChanges] = []
            people.onChange = { told.append($0) }
            func rename(_ person: PersonRecord, _ name: String) throws -> ListChanges {
                told = []
                person.setValue(name, forKey: "name")
                context.processPendingChanges()
                try #require(told.count == 1)
                return told[0]
            }
            let (ada, carl) = (people[0], people[2])
            let both = try rename(carl, "Zoe")
            #expect(both.removedSections == IndexSet([2]) && both.insertedSections == IndexSet([2]))
            #expect(both.moves.isEmpty && both.insertions.isEmpty && both.removals.isEmpty && both.updates.isEmpty)
            let joined = try rename(ada, "Blaise")
            #expect(joined.removedSections == IndexSet([0]) && joined.insertedSections.isEmpty)
            #expect(joined.moves.isEmpty && joined.removals.isEmpty && joined.updates.isEmpty)
            #expect(joined.insertions.map { $0[0] } == [0] && joined.insertions.count == 1)
            let left = try rename(ada, "Ada")
            #expect(left.insertedSections == IndexSet([0]) && left.removedSections.isEmpty)
            #expect(left.moves.isEmpty && left.insertions.isEmpty && left.updates.isEmpty)
            #expect(left.removals.map { $0[0] } == [0] && left.removals.count == 1)
        }
    }

    @Test("An observer of one record reports updates, refreshes and deletion")
    func record() async throws {
        let changes = Locked<[String]>([])
        let context = context
        let box = try await context.perform {
            let ada = try #require(try PersonRecord.first(where: NSPredicate(format: "id == 'a'"), in: context))
            let observer = RecordObserver(ada) { _, change in changes.withLock { $0.append("\(change)") } }
            ada.setValue("Lovelace", forKey: "name")
            context.processPendingChanges()
            try context.save()
            return UncheckedTransfer(value: observer)
        }
        try await manager.save(entity: PersonRecord.self, model: Person(uid: "a", name: "Ada again", age: 1))
        try await context.perform {
            context.delete(box.value.record)
            try context.save()
        }
        #expect(changes.withLock { $0.first } == "updated")
        #expect(changes.withLock { $0.contains("refreshed") })
        #expect(changes.withLock { $0.last } == "deleted")
    }

    @Test("an observer of a count tells each new one, and nothing else")
    func counting() throws {
        try context.performAndWait {
            var counts: [Int] = []
            let observer = try CountObserver(PersonRecord.self, where: NSPredicate(format: "age > 37"), in: context) {
                counts.append($0)
            }
            #expect(observer.count == 2)
            try PersonRecord.insertOrUpdate(uid: "a", in: context) { $0.setValue(99, forKey: "age") }
            context.processPendingChanges()
            try PersonRecord.insertOrUpdate(uid: "a", in: context) { $0.setValue(98, forKey: "age") }
            context.processPendingChanges()
            try PersonRecord.deleteAll(in: context)
            context.processPendingChanges()
            #expect(counts == [3, 0])
        }
    }

    @Test("notifications of contexts have types")
    func notifications() throws {
        try context.performAndWait {
            var inserted: [String?] = []
            var token: ObservationToken? = context.observe(.didSave) { changes in
                inserted += changes.of(PersonRecord.self).inserted.map { $0.value(forKey: "name") as? String }
                #expect(changes.of(NoteRecord.self).inserted.isEmpty)
            }
            try PersonRecord.insertOrUpdate(uid: "d", in: context) { $0.setValue("Dora", forKey: "name") }
            try context.save()
            #expect(inserted == ["Dora"])
            token = nil
            try PersonRecord.insertOrUpdate(uid: "e", in: context) { $0.setValue("Emmy", forKey: "name") }
            try context.save()
            #expect(inserted == ["Dora"])
            _ = token
        }
    }
}
