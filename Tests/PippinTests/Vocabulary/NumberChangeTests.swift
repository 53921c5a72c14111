import Pippin
import TestSupport
import Testing

private struct Item: CoreModel, Equatable {
    let id: Int
    var copies = 0
    var small: Int16 = 0
    var tiny: UInt8 = 0
    var ratio = 0.0
    var price: Decimal?
    var note = Note(stars: 1)
}

private struct Note: Codable, Equatable {
    var stars: Int
}

@Suite("Numbers computed from what is stored")
struct NumberChangeTests {
    private let folder: TestFolder
    private let manager: PersistenceManager

    init() async throws {
        folder = try TestFolder()
        manager = PersistenceManager(models: Item.self, store: .file(folder.file("items.sqlite")))
        try await manager.save([
            Item(id: 1, copies: 5, small: 7, tiny: 200, ratio: 0.5, price: Decimal(string: "9.99")),
            Item(id: 2, copies: -1, small: 32_767, tiny: 255, ratio: 2),
        ])
    }

    /// Changes the models of a filter by the manager, or in a block.
    private func update(
        inBlock: Bool, _ filter: Filter<Item> = .all,
        _ changes: @escaping @Sendable (inout ModelChanges<Item>) throws -> Void
    ) async throws {
        if inBlock {
            try await manager.write { try $0.update(Item.self, where: filter, changes) }
        } else {
            try await manager.update(Item.self, where: filter, changes)
        }
    }

    private func items() async throws -> [Item] {
        try await manager.fetch(Item.self, sortedBy: .ascending(\.id))
    }

    @Test("are sums and products in each model", arguments: [false, true])
    func computed(inBlock: Bool) async throws {
        try await update(inBlock: inBlock) {
            $0.add(-1, to: \.copies)
            $0.multiply(\.ratio, by: 1.5)
        }
        #expect(try await items().map(\.copies) == [4, -2])
        #expect(try await items().map(\.ratio) == [0.75, 3])
    }

    @Test("stay nil where there is none, and decimals are exact", arguments: [false, true])
    func decimals(inBlock: Bool) async throws {
        try await update(inBlock: inBlock) {
            $0.add(Decimal(string: "0.01")!, to: \.price)
            $0.multiply(\.price, by: Decimal(string: "0.1")!)
        }
        #expect(try await items().map(\.price) == [1, nil])
    }

    @Test("follow one another in the order in which they are written", arguments: [false, true])
    func order(inBlock: Bool) async throws {
        try await update(inBlock: inBlock) {
            $0.set(\.copies, to: 10)
            $0.add(1, to: \.copies)
            $0.multiply(\.copies, by: 2)
        }
        #expect(try await items().map(\.copies) == [22, 22])
        try await update(inBlock: inBlock) {
            $0.add(1, to: \.copies)
            $0.set(\.copies, to: 3)
        }
        #expect(try await items().map(\.copies) == [3, 3])
    }

    @Test("are refused where one does not fit, and nothing is changed", arguments: [false, true])
    func overflow(inBlock: Bool) async throws {
        let before = try await items()
        let changes: [@Sendable (inout ModelChanges<Item>) -> Void] = [
            { $0.add(1, to: \.small) }, { $0.add(1, to: \.tiny) }, { $0.multiply(\.copies, by: .max) },
            { $0.multiply(\.price, by: .greatestFiniteMagnitude) },
            {
                $0.multiply(\.ratio, by: -.infinity)
                $0.add(.infinity, to: \.ratio)
            },
        ]
        for (number, change) in changes.enumerated() {
            await #expect(throws: PersistenceError.self, "change \(number)") {
                try await update(inBlock: inBlock, .all, change)
            }
        }
        #expect(try await items() == before)
    }

    @Test("change no model of a block that goes on after one did not fit")
    func caught() async throws {
        let before = try await items()
        try await manager.write { store in
            #expect(throws: PersistenceError.self) {
                try store.update(Item.self, where: .all) { $0.add(1, to: \.small) }
            }
        }
        #expect(try await items() == before)
    }

    @Test("say which number does not fit its property")
    func misfit() async throws {
        let error = await #expect(throws: PersistenceError.self) {
            try await manager.update(Item.self, where: \.id == 2) { $0.add(1, to: \.tiny) }
        }
        #expect(error?.code == .unwritable && error?.property == "tiny")
        #expect(error?.localizedDescription.hasSuffix("255 + 1 is not a number that UInt8 holds.") ?? false)
    }

    @Test("are not parts of nested values")
    func nested() async throws {
        let error = await #expect(throws: PersistenceError.self) {
            try await manager.update(Item.self, where: .all) { $0.add(1, to: \.note.stars) }
        }
        #expect(error?.code == .notSettable && error?.property?.hasSuffix("note.stars") == true)
    }

    @Test("lose nothing that others add meanwhile")
    func concurrent() async throws {
        let other = PersistenceManager(models: Item.self, store: .file(folder.file("items.sqlite")))
        try await withThrowingTaskGroup(of: Void.self) { group in
            for manager in [manager, other] {
                group.addTask {
                    for _ in 0..<100 {
                        try await manager.update(Item.self, where: \.id == 1) {
                            $0.add(1, to: \.copies)
                            $0.add(1, to: \.price)
                        }
                    }
                }
            }
            try await group.waitForAll()
        }
        let item = try #require(try await manager.find(Item.self, id: 1))
        #expect(item.copies == 205 && item.price == Decimal(string: "209.99"))
    }
}
