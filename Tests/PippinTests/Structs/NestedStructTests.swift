import PippinRecords
import CoreData
import SQLiteConnection
import Testing

/// A model of nested values of every sort: optional, without any value, in one another, with keys of their own, with
/// lists.
private struct Parcel: CoreModel, Equatable {
    struct Size: Codable, Equatable {
        var width: Int?
        var height: Int?
    }
    struct Place: Codable, Equatable {
        var town: String
        var tags: [String] = []
        var size: Size?
    }
    struct Route: Codable, Equatable {
        enum CodingKeys: String, CodingKey {
            case start = "from.place"
            case end = "to"
            case length
        }
        var start: Place
        var end: Place?
        var length: Double?
    }
    enum Priority: Codable, Equatable {
        case usual
        case express(hours: Int)
    }

    let id: Int
    var size = Size()
    var maybeSize: Size?
    var route: Route?
    var priority: Priority?
}

@Suite("Nested structs")
struct NestedStructTests {
    private let counter: Counter

    init() throws { counter = try Counter(Parcel.self) }

    private static let bath = Parcel.Place(town: "Bath", tags: ["spa"], size: Parcel.Size(width: 1))
    private static let parcels = [
        Parcel(id: 1),
        Parcel(id: 2, maybeSize: Parcel.Size()),
        Parcel(id: 3, size: Parcel.Size(width: 3), maybeSize: Parcel.Size(height: 4)),
        Parcel(id: 4, route: Parcel.Route(start: bath)),
        Parcel(
            id: 5, route: Parcel.Route(start: bath, end: Parcel.Place(town: "", size: Parcel.Size()), length: 2.5),
            priority: .express(hours: 3)),
    ]

    private func fetch(_ filter: Filter<Parcel> = .all) throws -> [Int] {
        try counter.manager.readAndWait {
            try $0.fetch(Parcel.self, where: filter, sortedBy: .ascending(\.id)).map(\.id)
        }
    }

    @Test("come back as they were saved, whether they are not there or have no values")
    func roundTrip() async throws {
        try await counter.manager.save(Self.parcels)
        #expect(try await counter.manager.fetch(Parcel.self, sortedBy: .ascending(\.id)) == Self.parcels)
        let context = counter.manager.newWorkerContext()
        let inContext = try await counter.manager.read(in: context) {
            try $0.fetch(Parcel.self, sortedBy: .ascending(\.id))
        }
        #expect(inContext == Self.parcels)
    }

    @Test("have columns of their own, at any depth")
    func columns() async throws {
        try await counter.manager.save(Self.parcels)
        let towns = try await counter.manager.fetch(Parcel.self, where: \.route?.start.town == "Bath")
        #expect(towns.map(\.id).sorted() == [4, 5])
        let columns = try counter.strings("SELECT name FROM pragma_table_info('ZPARCEL')")
        #expect(columns.contains { $0.contains("TOWN") })
        #expect(columns.contains { $0.contains("WIDTH") })
    }

    @Test("are changed only where they differ")
    func unchanged() async throws {
        try await counter.manager.save(Self.parcels)
        try await counter.manager.save(Self.parcels)
        #expect(try counter.number("SELECT max(Z_OPT) FROM ZPARCEL") == 1)
        var parcel = Self.parcels[1]
        parcel.maybeSize = nil
        try await counter.manager.save(parcel)
        #expect(try await counter.manager.find(Parcel.self, id: 2) == parcel)
    }

    @Test("are compared as a whole, in parts, and with nothing")
    func filters() async throws {
        try await counter.manager.save(Self.parcels)
        #expect(try fetch(\.maybeSize == nil) == [1, 4, 5])
        #expect(try fetch(\.maybeSize != nil) == [2, 3])
        #expect(try fetch(\.maybeSize == Parcel.Size()) == [2])
        #expect(try fetch(\.size == Parcel.Size()) == [1, 2, 4, 5])
        #expect(try fetch(\.size != Parcel.Size()) == [3])
        #expect(try fetch(\.route == nil) == [1, 2, 3])
        #expect(try fetch(\.route?.end == nil) == [1, 2, 3, 4])
        #expect(try fetch(\.route?.end?.size == Parcel.Size()) == [5])
        #expect(try fetch(\.route?.start == Self.bath) == [4, 5])
        #expect(try fetch(\.route?.start.size?.width == 1) == [4, 5])
        #expect(try fetch(\.route?.start.tags == ["spa"]) == [4, 5])
        #expect(try fetch(\.route?.end?.tags == []) == [5])
        #expect(try fetch(\.priority == .express(hours: 3)) == [5])
        #expect(try fetch(\.priority == nil) == [1, 2, 3, 4])
        #expect(try fetch(.in(\.maybeSize, [nil, Parcel.Size(height: 4)])) == [1, 3, 4, 5])
    }

    @Test("are compared with nothing in Swift predicates and formats, too, and with nothing else")
    func nilInPredicates() async throws {
        try await counter.manager.save(Self.parcels)
        let filters: [(Filter<Parcel>, [Int])] = [
            (.matching(#Predicate { $0.maybeSize == nil }), [1, 4, 5]),
            (.matching(#Predicate { $0.maybeSize != nil }), [2, 3]),
            (.matching(#Predicate { $0.route == nil }), [1, 2, 3]),
            (.matching(#Predicate { $0.route?.end == nil }), [1, 2, 3, 4]),
            (.matching(#Predicate { $0.route?.start.town.isEmpty == false }), [4, 5]),
            (.format("route.end != nil"), [5]), (.format("nil == maybeSize"), [1, 4, 5]),
        ]
        for (filter, ids) in filters {
            #expect(try fetch(filter) == ids, "\(filter)")
            #expect(try Self.parcels.filter { try filter.matches($0) }.map(\.id) == ids, "\(filter)")
        }
        let bath = Self.bath
        for filter: Filter<Parcel> in [
            .matching(#Predicate { $0.route?.start == bath }), .format("maybeSize == %@", Parcel.Size()),
            .format("route.start < nil"),
        ] {
            let error = #expect(throws: PersistenceError.self) { try fetch(filter) }
            #expect(error?.code == .notComparable, "\(filter)")
            let inMemory = #expect(throws: PersistenceError.self) { try filter.matches(Self.parcels[0]) }
            #expect(inMemory?.code == .notComparable, "\(filter)")
        }
    }
}

/// What may be empty or missing.
private struct Binder: CoreModel, Equatable {
    let id: Int
    var tags: [String] = []
    var maybeTags: [String]?
    var words: Set<String> = []
    var dims: [String: Int] = [:]
    var maybeDims: [String: Int]?
    var bytes = Data()
    var maybeBytes: Data?
    var text: String?
    var sheets: [Sheet] = []
    var maybeSheets: [Sheet]?
    var maybeLinks: [Reference<Sheet>]?
    var first: Reference<Sheet>?
}

private struct Sheet: CoreModel, Equatable {
    let code: String
    var id: String { code }
}

@Suite("Nothing and empty")
struct EmptyValueTests {
    private let counter: Counter
    private let empty = Binder(
        id: 1, maybeTags: [], maybeDims: [:], maybeBytes: Data(), text: "", maybeSheets: [], maybeLinks: [])
    private let none = Binder(id: 2)
    private let full = Binder(
        id: 3, tags: ["a"], maybeTags: ["b"], words: ["c"], dims: ["d": 1], maybeDims: ["e": 2], bytes: Data([1]),
        maybeBytes: Data([2]), text: "f", sheets: [Sheet(code: "g")], maybeSheets: [Sheet(code: "h")],
        maybeLinks: [Reference(id: "g")], first: Reference(id: "h"))

    init() async throws {
        counter = try Counter(Binder.self)
        try await counter.manager.save([empty, none, full])
    }

    private func fetch(_ filter: Filter<Binder>) throws -> [Int] {
        try counter.manager.readAndWait {
            try $0.fetch(Binder.self, where: filter, sortedBy: .ascending(\.id)).map(\.id)
        }
    }

    @Test("are two things, as saved")
    func roundTrip() async throws {
        #expect(try await counter.manager.fetch(Binder.self, sortedBy: .ascending(\.id)) == [empty, none, full])
        var changed = empty
        (changed.maybeSheets, changed.maybeTags) = (nil, nil)
        try await counter.manager.save(changed)
        #expect(try await counter.manager.find(Binder.self, id: 1) == changed)
    }

    @Test("are told apart by filters")
    func filters() throws {
        #expect(try fetch(\.tags == []) == [1, 2])
        #expect(try fetch(\.tags != []) == [3])
        #expect(try fetch(\.maybeTags == []) == [1])
        #expect(try fetch(\.maybeTags == nil) == [2])
        #expect(try fetch(\.maybeTags != nil) == [1, 3])
        #expect(try fetch(\.maybeTags != []) == [2, 3])
        #expect(try fetch(\.words == []) == [1, 2])
        #expect(try fetch(\.words == ["c"]) == [3])
        #expect(try fetch(\.dims == [:]) == [1, 2])
        #expect(try fetch(\.dims == ["d": 1]) == [3])
        #expect(try fetch(\.maybeDims == [:]) == [1])
        #expect(try fetch(\.maybeDims != [:]) == [2, 3])
        #expect(try fetch(\.bytes == Data()) == [1, 2])
        #expect(try fetch(\.maybeBytes == Data()) == [1])
        #expect(try fetch(\.maybeBytes == nil) == [2])
        #expect(try fetch(\.text == "") == [1])
        #expect(try fetch(\.text == nil) == [2])
        #expect(try fetch(.in(\.text, [nil, "f"])) == [2, 3])
        #expect(try fetch(.in(\.tags, [["a"], ["x"]])) == [3])
    }

    @Test("are told apart for lists of models, too")
    func relationships() throws {
        #expect(try fetch(\.sheets == []) == [1, 2])
        #expect(try fetch(\.sheets != []) == [3])
        #expect(try fetch(\.maybeSheets == []) == [1])
        #expect(try fetch(\.maybeSheets == nil) == [2])
        #expect(try fetch(\.maybeSheets != nil) == [1, 3])
        #expect(try fetch(\.first == nil) == [1, 2])
        #expect(try fetch(\.first == Reference(id: "h")) == [3])
        #expect(try fetch(.in(\.first, [Reference(id: "h"), nil])) == [1, 2, 3])
    }

    @Test("are told apart for lists of models in Swift predicates and formats, too")
    func relationshipsInPredicates() throws {
        let filters: [(Filter<Binder>, [Int])] = [
            (.matching(#Predicate { $0.maybeSheets == nil }), [2]),
            (.matching(#Predicate { $0.maybeSheets != nil }), [1, 3]),
            (.matching(#Predicate { $0.maybeSheets?.isEmpty == true }), [1]),
            (.matching(#Predicate { $0.maybeSheets?.isEmpty ?? true }), [1, 2]),
            (.format("maybeLinks == nil"), [2]), (.format("nil != maybeSheets"), [1, 3]),
            (.format("sheets == nil"), []),
        ]
        for (filter, ids) in filters {
            #expect(try fetch(filter) == ids, "\(filter)")
            #expect(try [empty, none, full].filter { try filter.matches($0) }.map(\.id) == ids, "\(filter)")
        }
    }

    @Test("are refused for a list of models where it cannot be compared")
    func models() {
        #expect(
            throws: PersistenceError.notComparable(property: "\\Binder.sheets", entity: "Binder", type: "Array<Sheet>")
        ) {
            try fetch(\.sheets == [Sheet(code: "g")])
        }
    }

    @Test("models and references in format strings are their identifiers")
    func formats() throws {
        #expect(try fetch(.format("first == %@", Reference<Sheet>(id: "h"))) == [3])
        #expect(try fetch(.format("first == %@", Sheet(code: "h"))) == [3])
        #expect(try fetch(.format("%@ == first", Reference<Sheet>(id: "h"))) == [3])
        #expect(try fetch(.format("first.code == %@", Reference<Sheet>(id: "h"))) == [3])
        #expect(try fetch(.format("first IN %@", [Reference<Sheet>(id: "h"), Reference(id: "x")])) == [3])
        #expect(try fetch(.format("ANY sheets == %@", Reference<Sheet>(id: "g"))) == [3])
        #expect(try fetch(.format("%@ IN maybeLinks", Reference<Sheet>(id: "g"))) == [3])
        #expect(
            try fetch(.format("SUBQUERY(sheets, $s, $s == %@).@count == 1", Reference<Sheet>(id: "g"))) == [3])
        #expect(try fetch(.predicate(NSPredicate(format: "first == %@", Reference<Sheet>(id: "h")))) == [3])
    }
}
