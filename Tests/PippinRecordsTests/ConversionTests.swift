import PippinRecords
import Testing

// People who know each other: as structs, and as objects.
struct Pal: CoreModel, Equatable {
    let uid: String
    var friends: [Pal] = []
}

final class PalRecord: NSManagedObject, RecordFromModel, RecordToModel {
    func fromModel(_ friend: Pal) {}

    func relationsFromModel(_ friend: Pal) throws {
        setValue(NSSet(array: try PalRecord.records(from: friend.friends, in: managedObjectContext)), forKey: "friends")
    }

    func toModel() -> Pal { Pal(uid: value(forKey: "uid") as? String ?? "") }

    // Once for each record: the models of thirteen friends of one another need it 200,000 times.
    private lazy var friends = (value(forKey: "friends") as? Set<PalRecord> ?? []).sorted {
        $0.value(forKey: "uid") as? String ?? "" < $1.value(forKey: "uid") as? String ?? ""
    }

    func relationsToModel(_ friend: inout Pal, _ conversion: ModelConversion) throws {
        friend.friends = try conversion.models(of: friends)
    }
}

final class Peer: Identifiable {
    let uid: String
    var id: String { uid }
    var friends: [Peer] = []
    init(uid: String) { self.uid = uid }
}

final class PeerRecord: NSManagedObject, RecordFromModel, RecordToModel, @unchecked Sendable {
    func fromModel(_ peer: Peer) {}

    func relationsFromModel(_ peer: Peer) throws {
        setValue(NSSet(array: try PeerRecord.records(from: peer.friends, in: managedObjectContext)), forKey: "friends")
    }

    func toModel() -> Peer { Peer(uid: value(forKey: "uid") as? String ?? "") }

    func relationsToModel(_ peer: inout Peer, _ conversion: ModelConversion) throws {
        peer.friends = try conversion.models(of: value(forKey: "friends") as? Set<PeerRecord> ?? [])
    }
}

struct Ticket: ModelFromRecord, Equatable {
    let uid: String
    var id: String { uid }
    var friends: [Ticket] = []

    init?(record: TicketRecord) {
        guard let uid = record.value(forKey: "uid") as? String, uid != "void" else { return nil }
        self.uid = uid
    }
}

final class TicketRecord: NSManagedObject, RecordToModel {
    typealias ModelType = Ticket
    typealias UidType = String
}

@Suite("Conversion in two phases")
struct ConversionTests {
    private let manager: PersistenceManager

    init() throws {
        let types: [NSManagedObject.Type] = [
            PalRecord.self, PeerRecord.self, TicketRecord.self, HolderRecord.self, LinkRecord.self,
        ]
        let model = NSManagedObjectModel()
        model.entities = types.map { type in
            let entity = NSEntityDescription()
            entity.name = "\(type)"
            entity.managedObjectClassName = NSStringFromClass(type)
            let uid = NSAttributeDescription()
            uid.name = "uid"
            uid.attributeType = .stringAttributeType
            let friends = NSRelationshipDescription()
            friends.name = "friends"
            friends.destinationEntity = entity
            friends.inverseRelationship = friends
            friends.maxCount = 0
            entity.properties = [uid, friends]
            return entity
        }
        let (links, sources) = (model.entities[4], NSRelationshipDescription())
        sources.name = "sources"
        sources.destinationEntity = links
        links.properties.append(sources)
        let friends = links.relationshipsByName["friends"]
        friends?.inverseRelationship = sources
        sources.inverseRelationship = friends
        let (tickets, held) = (model.entities[2], NSRelationshipDescription())
        held.name = "holder"
        held.destinationEntity = model.entities[3]
        held.maxCount = 1
        tickets.properties.append(held)
        let holders = model.entities[3].relationshipsByName["friends"]
        holders?.destinationEntity = tickets
        holders?.inverseRelationship = held
        held.inverseRelationship = holders
        manager = PersistenceManager(model: model, name: "Friends", store: .memory)
        try manager.loadAndWait()
    }

    @Test("a struct that leads back to itself comes there with its properties alone")
    func structs() async throws {
        let ada = Pal(uid: "a", friends: [Pal(uid: "b", friends: [Pal(uid: "a")])])
        try await manager.save(entity: PalRecord.self, models: [ada], shouldOverwrite: false)
        #expect(try await manager.fetchModel(entity: PalRecord.self, uid: "a") == ada)
        let all = try await manager.fetchModels(
            entity: PalRecord.self, sortDescriptors: [NSSortDescriptor(key: "uid", ascending: true)])
        #expect(all == [ada, Pal(uid: "b", friends: [Pal(uid: "a", friends: [Pal(uid: "b")])])])
    }

    @Test("an object that leads back to itself comes as itself")
    func objects() throws {
        let (one, two) = (Peer(uid: "a"), Peer(uid: "b"))
        one.friends = [two]
        two.friends = [one]
        try manager.save(entity: PeerRecord.self, models: [one], shouldOverwrite: false)
        let found = try #require(try manager.fetchModel(entity: PeerRecord.self, uid: "a"))
        #expect(found.friends.map(\.uid) == ["b"])
        #expect(found.friends[0].friends[0] === found)
        found.friends = []
        one.friends = []
        two.friends = []
    }

    @Test("a record that a failable initializer refuses is left out")
    func failable() async throws {
        let context = manager.newWorkerContext()
        try await context.perform {
            for uid in ["a", "void", "z"] { try TicketRecord.insertOrUpdate(uid: uid, in: context) { _ in } }
            try context.save()
        }
        let found = try await manager.fetchModels(
            entity: TicketRecord.self, sortDescriptors: [NSSortDescriptor(key: "uid", ascending: true)])
        #expect(found.map(\.uid) == ["a", "z"])
        #expect(try await manager.fetchModel(entity: TicketRecord.self, uid: "void") == nil)
    }

    @Test("a model that contains a refused record is not left out: the fetch throws, naming that record")
    func refusedWithin() async throws {
        let context = manager.newWorkerContext()
        try await context.perform {
            let void = try TicketRecord.insertOrUpdate(uid: "void", in: context) { _ in }
            try HolderRecord.insertOrUpdate(uid: "h", in: context) {
                $0.setValue(NSSet(object: void), forKey: "friends")
            }
            try context.save()
        }
        let error = await #expect(throws: PersistenceError.self) {
            try await manager.fetchModels(entity: HolderRecord.self)
        }
        #expect(error?.code == .notConvertible)
        #expect(error?.identifier == "void")
    }

    @Test("models that many lead to are converted and saved once each", .timeLimit(.minutes(15)))
    func shared() throws {
        var pal = Pal(uid: "0")
        for number in 1...22 { pal = Pal(uid: "\(number)", friends: [pal, pal]) }
        try manager.save(entity: PalRecord.self, models: [pal], shouldOverwrite: false)
        #expect(try manager.fetchRecords(entity: PalRecord.self).count == 23)
    }

    @Test("models that are led to on many paths are converted once", .timeLimit(.minutes(15)))
    func manyPaths() throws {
        let context = manager.newWorkerContext()
        try context.performAndWait {
            let uids = (0..<60).map { "\($0)" }
            let links = try LinkRecord.insertOrUpdate(uids, by: { $0 }, in: context) { _, _ in }
            for (place, link) in links.enumerated() {
                let next = place / 2 * 2 + 2
                link.setValue(NSSet(array: Array(links.dropFirst(next).prefix(2))), forKey: "friends")
            }
            try context.save()
        }
        var link = try #require(try manager.fetchModel(entity: LinkRecord.self, uid: "0"))
        var depth = 1
        while let next = link.friends.last {
            #expect(link.friends.count == 2)
            (link, depth) = (next, depth + 1)
        }
        #expect(depth == 30)
    }

    @Test("structs on more paths than can be followed are an error", .timeLimit(.minutes(15)))
    func clique() throws {
        let context = manager.newWorkerContext()
        try context.performAndWait {
            let pals = try (0..<13).map { try PalRecord.insertOrUpdate(uid: "\($0)", in: context) { _ in } }
            for pal in pals { pal.setValue(NSSet(array: pals.filter { $0 !== pal }), forKey: "friends") }
            try context.save()
        }
        let error = #expect(throws: PersistenceError.self) { try manager.fetchModel(entity: PalRecord.self, uid: "0") }
        #expect(error?.code == .unreadable)
    }

    @Test("chains that are too long are an error, not the end of the stack")
    func chain() throws {
        var pal = Pal(uid: "0")
        for number in 1...5000 { pal = Pal(uid: "\(number)", friends: [pal]) }
        let unwritable = #expect(throws: PersistenceError.self) {
            try manager.save(entity: PalRecord.self, models: [pal], shouldOverwrite: false)
        }
        #expect(unwritable?.code == .unwritable)
        let context = manager.newWorkerContext()
        try context.performAndWait {
            let uids = (0..<5000).map { "long \($0)" }
            let pals = try PalRecord.insertOrUpdate(uids, by: { $0 }, in: context) { _, _ in }
            for (pal, next) in zip(pals, pals.dropFirst()) {
                next.mutableSetValue(forKey: "friends").add(pal)
            }
            try context.save()
        }
        let unreadable = #expect(throws: PersistenceError.self) {
            try manager.fetchModel(entity: PalRecord.self, uid: "long 0")
        }
        #expect(unreadable?.code == .unreadable)
    }
}

/// A struct that many lead to, on paths that do not lead back.
struct Link: CoreModel {
    let uid: String
    var friends: [Link] = []
}

final class LinkRecord: NSManagedObject, RecordToModel {
    func toModel() -> Link { Link(uid: value(forKey: "uid") as? String ?? "") }

    func relationsToModel(_ link: inout Link, _ conversion: ModelConversion) throws {
        link.friends = try conversion.models(of: value(forKey: "friends") as? Set<LinkRecord> ?? [])
    }
}

/// A holder of a ticket, which the ticket's record may refuse.
struct Holder: Identifiable {
    let uid: String
    var id: String { uid }
    let tickets: [Ticket]
}

final class HolderRecord: NSManagedObject, RecordToModel {
    func toModel() throws -> Holder {
        let tickets = value(forKey: "friends") as? Set<TicketRecord> ?? []
        return Holder(uid: value(forKey: "uid") as? String ?? "", tickets: try tickets.map { try $0.toModel() })
    }
}

@Suite("Requests for records")
struct RecordRequestTests {
    @Test("are put together piece by piece")
    func composed() throws {
        let shelf = try Shelf()
        try shelf.save([.ada, .blaise, .carl])
        let request = RecordRequest(PersonRecord.self)
            .filter(NSPredicate(format: "age > 30")).filter(NSPredicate(format: "age < 70"))
            .sorted(by: [NSSortDescriptor(key: "name", ascending: false)]).distinct().prefetching("novels")
        #expect(try shelf.manager.fetchModels(request) == [.blaise, .ada])
        #expect(try shelf.manager.fetchModels(request.limit(1)) == [.blaise])
        #expect(try shelf.manager.fetchRecords(request.offset(1)).map { $0.toModel() } == [.ada])
    }

    @Test("intermediate values of any kind are inserted or change what is there, in their order")
    func intermediates() throws {
        let shelf = try Shelf()
        try shelf.save([.ada])
        let context = shelf.manager.newWorkerContext()
        let rows = [["z", "Zoe"], ["a", "Lovelace"], ["z", "Zoë"]]
        try context.performAndWait {
            let records = try PersonRecord.insertOrUpdate(rows, by: { $0[0] }, in: context) {
                $0.setValue($1[1], forKey: "name")
            }
            #expect(records[0] === records[2])
            #expect(try PersonRecord.count(in: context) == 2)
            try context.save()
        }
        #expect(try shelf.strings("SELECT ZNAME FROM ZPERSONRECORD ORDER BY ZID") == ["Lovelace", "Zoë"])
    }
}
