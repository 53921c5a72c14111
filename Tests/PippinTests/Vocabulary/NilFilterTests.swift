import Foundation
import Pippin
import TestSupport
import Testing

/// No two of these can be compared.
private struct Painter: CoreModel {
    let id: Int
    var name: String
}

private struct Picture: CoreModel {
    let id: Int
    var painter: Painter?
}

private struct Prize: CoreModel, Equatable { let id: Int }

private struct Owner: CoreModel, Equatable {
    let id: Int
    var prizes: [Prize]?
    var debts: [Prize] = []
}

private struct Gallery: CoreModel, Equatable {
    let id: Int
    var owner: Owner?
}

/// A nested struct that may have no values, within others that may be missing.
private struct Crate: CoreModel, Equatable {
    struct Size: Codable, Equatable {
        var width: Int?
        var height: Int?
    }
    struct Lid: Codable, Equatable {
        var size: Size
        var screws: Int
    }
    struct Cloth: Codable, Equatable { var size: Size }

    let id: Int
    var size = Size()
    var lid: Lid?
    var cloth: Cloth?
}

private struct Truck: CoreModel, Equatable {
    let id: Int
    var crate: Crate?
}

@Suite("Filters by nothing")
struct NilFilterTests {
    @Test("find models that lead to no other one, of a type that is not Equatable, in the store and in memory")
    func relationship() throws {
        let folder = try TestFolder()
        let manager = PersistenceManager(models: Picture.self, store: .file(folder.file("pictures.sqlite")))
        let pictures = [Picture(id: 1, painter: Painter(id: 7, name: "Emma")), Picture(id: 2)]
        try manager.writeAndWait { try $0.save(pictures) }
        let (without, with): (Filter<Picture>, Filter<Picture>) = (\.painter == nil, \.painter != nil)
        let found = try manager.readAndWait {
            (try $0.fetch(Picture.self, where: without).map(\.id), try $0.fetch(Picture.self, where: with).map(\.id))
        }
        #expect(found == ([2], [1]))
        #expect(try pictures.map { try without.matches($0) } == [false, true])
    }

    @Test("tell a missing list from an empty one, also in another model, in the store and in memory")
    func lists() throws {
        let folder = try TestFolder()
        let manager = PersistenceManager(models: Gallery.self, store: .file(folder.file("galleries.sqlite")))
        let prize = Prize(id: 1)
        let galleries = [
            Gallery(id: 1),
            Gallery(id: 2, owner: Owner(id: 2, prizes: nil)),
            Gallery(id: 3, owner: Owner(id: 3, prizes: [])),
            Gallery(id: 4, owner: Owner(id: 4, prizes: [prize], debts: [prize])),
        ]
        try manager.writeAndWait { try $0.save(galleries) }
        let wanted: [(Filter<Gallery>, [Int])] = [
            (\.owner?.prizes == nil, [1, 2]), (\.owner?.prizes != nil, [3, 4]),
            (\.owner?.prizes == [], [3]), (\.owner?.prizes != [], [1, 2, 4]),
            (\.owner?.debts == nil, [1]), (\.owner?.debts != nil, [2, 3, 4]),
            (\.owner?.debts == [], [2, 3]), (\.owner?.debts != [], [1, 4]),
            (.matching(#Predicate { $0.owner?.prizes == nil }), [1, 2]),
            (.matching(#Predicate { $0.owner?.prizes != nil }), [3, 4]),
            (.matching(#Predicate { $0.owner?.debts == nil }), [1]), (.format("owner.debts != nil"), [2, 3, 4]),
        ]
        for (filter, ids) in wanted {
            let found = try manager.readAndWait {
                try $0.fetch(Gallery.self, where: filter, sortedBy: .ascending(\.id)).map(\.id)
            }
            #expect(found == ids)
            #expect(try galleries.filter { try filter.matches($0) }.map(\.id) == ids)
        }
        let owners: [(Filter<Owner>, [Int])] = [
            (\.prizes == nil, [2]), (\.prizes != nil, [3, 4]), (\.prizes == [], [3]), (\.prizes != [], [2, 4]),
            (\.debts == [], [2, 3]), (\.debts != [], [4]),
        ]
        for (filter, ids) in owners {
            let found = try manager.readAndWait {
                try $0.fetch(Owner.self, where: filter, sortedBy: .ascending(\.id)).map(\.id)
            }
            #expect(found == ids)
            #expect(try galleries.compactMap(\.owner).filter { try filter.matches($0) }.map(\.id) == ids)
        }
    }
    @Test("tell a nested struct without values from a missing one, also within others, in the store and in memory")
    func nested() throws {
        let folder = try TestFolder()
        let manager = PersistenceManager(models: Truck.self, store: .file(folder.file("trucks.sqlite")))
        let (none, wide) = (Crate.Size(), Crate.Size(width: 1))
        let trucks = [
            Truck(id: 1),
            Truck(id: 2, crate: Crate(id: 2)),
            Truck(id: 3, crate: Crate(id: 3, lid: Crate.Lid(size: none, screws: 4), cloth: Crate.Cloth(size: none))),
            Truck(id: 4, crate: Crate(id: 4, size: wide, lid: Crate.Lid(size: wide, screws: 4))),
        ]
        try manager.writeAndWait { try $0.save(trucks) }
        let wanted: [(Filter<Truck>, [Int])] = [
            (\.crate?.size == nil, [1]), (\.crate?.size != nil, [2, 3, 4]),
            (\.crate?.size == none, [2, 3]), (\.crate?.size != none, [1, 4]),
            (\.crate?.lid?.size == nil, [1, 2]), (\.crate?.lid?.size != nil, [3, 4]),
            (\.crate?.lid?.size == none, [3]), (\.crate?.lid?.size != none, [1, 2, 4]),
            (\.crate?.cloth?.size == nil, [1, 2, 4]), (\.crate?.cloth?.size == none, [3]),
            (.matching(#Predicate { $0.crate?.size == nil }), [1]), (.format("crate.lid.size != nil"), [3, 4]),
            (.matching(#Predicate { $0.crate?.lid?.size == nil }), [1, 2]),
        ]
        for (filter, ids) in wanted {
            let found = try manager.readAndWait {
                try $0.fetch(Truck.self, where: filter, sortedBy: .ascending(\.id)).map(\.id)
            }
            #expect(found == ids, "\(filter)")
            #expect(try trucks.filter { try filter.matches($0) }.map(\.id) == ids, "\(filter)")
        }
    }
}
