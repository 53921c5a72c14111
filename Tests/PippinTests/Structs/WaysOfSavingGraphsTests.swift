import Foundation
import TestSupport
import Testing

@testable import Pippin

private struct Module: CoreModel, Equatable {
    let id: Int
    var name: String
    var parts: [Module]
    var badge: Emblem?
    var mate: Reference<Module>?
    var likes: [Reference<Module>]
    var notes: [Remark]

    static var schema: Schema<Module> { Schema(.owns(\.parts), .owns(\.badge)) }
}

private struct Emblem: CoreModel, Equatable {
    let id: Int
    var text: String
}

private struct Remark: CoreModel, Equatable {
    let id: Int
    var text: String?
    var about: [Reference<Emblem>]
}

@Suite("Saving models that lead to their own type as rows, and as objects of a context")
struct WaysOfSavingGraphsTests {
    private let stores: BothWays

    init() throws { stores = try BothWays { PersistenceManager(models: Module.self, store: $0) } }

    @Test("leave the same rows, pairs, places, keys, versions and changes behind", arguments: 1...BothWays.series)
    func random(seed: UInt64) throws {
        var random = Modules(numbers: SeededNumbers(seed: seed))
        for step in 1...14 {
            let models = random.roots()
            let replaces = random.number(5) == 0
            let deleted = random.number(12)
            func change(_ manager: PersistenceManager, asRows: Bool) -> PersistenceError.Code? {
                do {
                    try manager.writeAndWait { store in
                        store.access.savesRows = asRows
                        if replaces { try store.replaceAll(with: models) } else { try store.save(models) }
                    }
                    try manager.writeAndWait { store in
                        store.access.savesRows = asRows
                        if step % 4 == 0 { try store.delete(Module.self, id: deleted) }
                    }
                    return nil
                } catch { return (error as? PersistenceError)?.code ?? .init("\(error)") }
            }
            #expect(change(stores.rows, asRows: true) == change(stores.objects, asRows: false), "step \(step)")
            let (rows, objects) = (try stores.contentOfRows(), try stores.contentOfObjects())
            try #require(rows.difference(from: objects).isEmpty, "step \(step)")
        }
    }

    @Test("goes as rows: a part that moves, one that goes with its parts, another badge")
    func asRows() throws {
        func module(_ id: Int, _ parts: [Module] = [], badge: Int? = nil) -> Module {
            Module(
                id: id, name: "m", parts: parts, badge: badge.map { Emblem(id: $0, text: "b") }, mate: nil, likes: [],
                notes: [])
        }
        let isRows = try stores.goesAsRows { manager in
            try manager.writeAndWait { try $0.save([module(1, [module(2, [module(3)])], badge: 1), module(4)]) }
            try manager.writeAndWait { try $0.save([module(1, [module(2)]), module(4, [module(3)], badge: 1)]) }
            try manager.writeAndWait { try $0.save(module(1, badge: 2)) }
            try manager.writeAndWait { try $0.replaceAll(with: [module(4, [module(3)])]) }
        }
        #expect(isRows == [true, true, true, true])
        let stored = try stores.rows.readAndWait { try $0.fetch(Module.self, sortedBy: .ascending(\.id)) }
        #expect(stored == [module(3), module(4, [module(3)])])
    }
}

/// Made-up modules, the same for each seed.
private struct Modules {
    var numbers: SeededNumbers

    mutating func number(_ count: Int) -> Int { numbers.next(below: count) }

    /// Some trees in which each module is once; references lead to modules of the same trees, or anywhere.
    mutating func roots() -> [Module] {
        var ids = Array(0..<12)
        for place in ids.indices.dropLast() { ids.swapAt(place, place + number(ids.count - place)) }
        ids = Array(ids.prefix(1 + number(8)))
        var badges = Array(0..<8)
        return tree(&ids, &badges, depth: 0)
    }

    private mutating func tree(_ ids: inout [Int], _ badges: inout [Int], depth: Int) -> [Module] {
        var modules: [Module] = []
        while let id = ids.popLast() {
            let badge = number(3) == 0 ? badges.popLast() : nil
            let parts = depth < 3 && number(2) == 0 ? tree(&ids, &badges, depth: depth + 1) : []
            modules.append(
                Module(
                    id: id, name: "m\(number(3))", parts: parts,
                    badge: badge.map { Emblem(id: $0, text: "b\(number(2))") },
                    mate: number(3) == 0 ? Reference(id: id) : nil,
                    likes: parts.prefix(number(3)).map { Reference(id: $0.id) },
                    notes: (0..<number(3)).map { Remark(id: (id + $0) % 5, text: nil, about: []) }))
            if number(3) == 0 { break }
        }
        return modules
    }
}
