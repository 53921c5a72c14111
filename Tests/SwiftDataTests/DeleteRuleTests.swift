import CoreData
import Foundation
import SwiftData
import Testing

/// A delete rule as a type, so that one declaration of models stands for those of every pair of rules.
protocol DeleteRule: Sendable {
    static var models: Schema.Relationship.DeleteRule { get }
    static var objects: NSDeleteRule { get }
}

enum NoAction: DeleteRule {
    static let models = Schema.Relationship.DeleteRule.noAction
    static let objects = NSDeleteRule.noActionDeleteRule
}

enum Nullify: DeleteRule {
    static let models = Schema.Relationship.DeleteRule.nullify
    static let objects = NSDeleteRule.nullifyDeleteRule
}

enum Cascade: DeleteRule {
    static let models = Schema.Relationship.DeleteRule.cascade
    static let objects = NSDeleteRule.cascadeDeleteRule
}

enum Deny: DeleteRule {
    static let models = Schema.Relationship.DeleteRule.deny
    static let objects = NSDeleteRule.denyDeleteRule
}

/// A model with a name and one relationship.
protocol NamedEnd: PersistentModel {
    var name: String { get }
    /// The names of the related models.
    var others: [String] { get }
}

@Model
final class OneStart<L: DeleteRule, R: DeleteRule>: NamedEnd {
    var name: String
    @Relationship(deleteRule: L.models, inverse: \OneEnd<L, R>.start) var end: OneEnd<L, R>?
    var others: [String] { [end].compactMap { $0?.name } }

    init(_ name: String, _ end: OneEnd<L, R>) {
        self.name = name
        self.end = end
    }
}

@Model
final class OneEnd<L: DeleteRule, R: DeleteRule>: NamedEnd {
    var name: String
    @Relationship(deleteRule: R.models) var start: OneStart<L, R>?
    var others: [String] { [start].compactMap { $0?.name } }

    init(_ name: String) { self.name = name }
}

@Model
final class FreeStart<L: DeleteRule, R: DeleteRule>: NamedEnd {
    var name: String
    @Relationship(deleteRule: L.models, inverse: \BoundEnd<L, R>.start) var end: BoundEnd<L, R>?
    var others: [String] { [end].compactMap { $0?.name } }

    init(_ name: String) { self.name = name }
}

@Model
final class BoundEnd<L: DeleteRule, R: DeleteRule>: NamedEnd {
    var name: String
    @Relationship(deleteRule: R.models) var start: FreeStart<L, R>
    var others: [String] { [start.name] }

    init(_ name: String, _ start: FreeStart<L, R>) {
        self.name = name
        self.start = start
    }
}

@Model
final class Owner<L: DeleteRule, R: DeleteRule>: NamedEnd {
    var name: String
    @Relationship(deleteRule: L.models, inverse: \Part<L, R>.owner) var parts: [Part<L, R>] = []
    var others: [String] { parts.map(\.name) }

    init(_ name: String) { self.name = name }
}

@Model
final class Part<L: DeleteRule, R: DeleteRule>: NamedEnd {
    var name: String
    @Relationship(deleteRule: R.models) var owner: Owner<L, R>?
    var others: [String] { [owner].compactMap { $0?.name } }

    init(_ name: String, _ owner: Owner<L, R>) {
        self.name = name
        self.owner = owner
    }
}

@Model
final class Keeper<L: DeleteRule, R: DeleteRule>: NamedEnd {
    var name: String
    @Relationship(deleteRule: L.models, inverse: \KeptPart<L, R>.keeper) var parts: [KeptPart<L, R>] = []
    var others: [String] { parts.map(\.name) }

    init(_ name: String) { self.name = name }
}

@Model
final class KeptPart<L: DeleteRule, R: DeleteRule>: NamedEnd {
    var name: String
    @Relationship(deleteRule: R.models) var keeper: Keeper<L, R>
    var others: [String] { [keeper.name] }

    init(_ name: String, _ keeper: Keeper<L, R>) {
        self.name = name
        self.keeper = keeper
    }
}

@Model
final class Club<L: DeleteRule, R: DeleteRule>: NamedEnd {
    var name: String
    @Relationship(deleteRule: L.models, inverse: \Member<L, R>.clubs) var members: [Member<L, R>] = []
    var others: [String] { members.map(\.name) }

    init(_ name: String) { self.name = name }
}

@Model
final class Member<L: DeleteRule, R: DeleteRule>: NamedEnd {
    var name: String
    @Relationship(deleteRule: R.models) var clubs: [Club<L, R>] = []
    var others: [String] { clubs.map(\.name) }

    init(_ name: String, _ clubs: [Club<L, R>]) {
        self.name = name
        self.clubs = clubs
    }
}

/// How the two sides of a relationship are declared, and which models are related before one is deleted.
enum RelationshipShape: String, CaseIterable, Sendable {
    case oneToOne, oneToRequiredOne, oneToMany, requiredOneToMany, manyToMany

    /// The names at the first side, each with those at the second side.
    var links: [(String, [String])] {
        switch self {
        case .oneToOne, .oneToRequiredOne: [("a", ["1"]), ("b", ["2"])]
        case .oneToMany, .requiredOneToMany: [("a", ["1", "2"]), ("b", ["3"])]
        case .manyToMany: [("a", ["1", "2"]), ("b", ["2", "3"])]
        }
    }

    /// Whether a model of the first and of the second side leads to many.
    var isToMany: (Bool, Bool) {
        (self != .oneToOne && self != .oneToRequiredOne, self == .manyToMany)
    }

    /// Whether a model of the second side must lead to one.
    var isRequired: Bool { self == .oneToRequiredOne || self == .requiredOneToMany }
}

/// What a deletion does with models or with objects: what there is before the save, whether the save is refused, and
/// what there is afterwards (after a rollback if it was refused), in the same context and in another one.
private struct DeletionRecord: Equatable, CustomStringConvertible {
    var before = ""
    var isRefused = false
    var after = ""
    var elsewhere = ""

    var description: String { "\(before) \(isRefused ? "refused" : "saved") \(after) / \(elsewhere)" }

    static func line(_ ends: [(String, [String])]) -> String {
        ends.sorted { $0.0 < $1.0 }.map { "\($0.0)(\($0.1.sorted().joined(separator: ",")))" }.joined(separator: " ")
    }
}

/// The models of one pair of rules, in one shape.
private struct ModelGraph<L: DeleteRule, R: DeleteRule> {
    let shape: RelationshipShape

    var types: [any NamedEnd.Type] {
        switch shape {
        case .oneToOne: [OneStart<L, R>.self, OneEnd<L, R>.self]
        case .oneToRequiredOne: [FreeStart<L, R>.self, BoundEnd<L, R>.self]
        case .oneToMany: [Owner<L, R>.self, Part<L, R>.self]
        case .requiredOneToMany: [Keeper<L, R>.self, KeptPart<L, R>.self]
        case .manyToMany: [Club<L, R>.self, Member<L, R>.self]
        }
    }

    private func insert(in context: ModelContext) {
        switch shape {
        case .oneToOne: for (name, ends) in shape.links { context.insert(OneStart<L, R>(name, OneEnd(ends[0]))) }
        case .oneToRequiredOne:
            for (name, ends) in shape.links { context.insert(BoundEnd<L, R>(ends[0], FreeStart(name))) }
        case .oneToMany:
            for (name, ends) in shape.links {
                let owner = Owner<L, R>(name)
                for end in ends { context.insert(Part(end, owner)) }
            }
        case .requiredOneToMany:
            for (name, ends) in shape.links {
                let keeper = Keeper<L, R>(name)
                for end in ends { context.insert(KeptPart(end, keeper)) }
            }
        case .manyToMany:
            let clubs = shape.links.map { (Club<L, R>($0.0), $0.1) }
            for end in Set(clubs.flatMap(\.1)) {
                context.insert(Member(end, clubs.filter { $0.1.contains(end) }.map(\.0)))
            }
        }
    }

    private func models(in context: ModelContext) throws -> [any NamedEnd] {
        func all<M: NamedEnd>(_ type: M.Type) throws -> [any NamedEnd] { try context.fetch(FetchDescriptor<M>()) }
        return try types.flatMap { try all($0) }
    }

    private func line(_ context: ModelContext) throws -> String {
        DeletionRecord.line(try models(in: context).map { ($0.name, $0.others) })
    }

    func record(deleting name: String) throws -> DeletionRecord {
        let schema = Schema(types)
        let container = try ModelContainer(
            for: schema, configurations: ModelConfiguration(schema: schema, isStoredInMemoryOnly: true))
        let context = ModelContext(container)
        insert(in: context)
        try context.save()
        #expect(try line(ModelContext(container)) == DeletionRecord.line(ObjectGraph.ends(shape)))
        for model in try models(in: context) where model.name == name { context.delete(model) }
        context.processPendingChanges()
        var record = DeletionRecord(before: try line(context))
        do { try context.save() } catch SwiftDataError.modelValidationFailure {
            record.isRefused = true
            context.rollback()
        }
        record.after = try line(context)
        record.elsewhere = try line(ModelContext(container))
        return record
    }
}

/// The same with managed objects, whose model is made by hand.
private struct ObjectGraph {
    let shape: RelationshipShape
    let rules: (NSDeleteRule, NSDeleteRule)

    /// The names of all, each with those of the related ones.
    static func ends(_ shape: RelationshipShape) -> [(String, [String])] {
        let seconds = Set(shape.links.flatMap(\.1))
        return shape.links + seconds.map { end in (end, shape.links.filter { $0.1.contains(end) }.map(\.0)) }
    }

    private func model() -> NSManagedObjectModel {
        let entities = ["First", "Second"].map { name in
            let (entity, attribute) = (NSEntityDescription(), NSAttributeDescription())
            (attribute.name, attribute.attributeType) = ("name", .stringAttributeType)
            (entity.name, entity.properties) = (name, [attribute])
            return entity
        }
        let (first, second) = (NSRelationshipDescription(), NSRelationshipDescription())
        let isToMany = [shape.isToMany.0, shape.isToMany.1]
        for (index, relationship) in [first, second].enumerated() {
            relationship.name = "others"
            relationship.destinationEntity = entities[1 - index]
            relationship.inverseRelationship = [second, first][index]
            relationship.deleteRule = [rules.0, rules.1][index]
            relationship.maxCount = isToMany[index] ? 0 : 1
            relationship.isOptional = index == 0 || !shape.isRequired
            entities[index].properties.append(relationship)
        }
        let model = NSManagedObjectModel()
        model.entities = entities
        return model
    }

    private func others(_ object: NSManagedObject) -> [NSManagedObject] {
        let value = object.value(forKey: "others")
        return (value as? Set<NSManagedObject>).map(Array.init) ?? (value as? NSManagedObject).map { [$0] } ?? []
    }

    private func objects(in context: NSManagedObjectContext) throws -> [NSManagedObject] {
        try ["First", "Second"].flatMap { try context.fetch(NSFetchRequest<NSManagedObject>(entityName: $0)) }
    }

    private func line(_ context: NSManagedObjectContext) throws -> String {
        // The name of an object that no store has any more is nil.
        func name(_ object: NSManagedObject) -> String { object.value(forKey: "name") as? String ?? "" }
        return DeletionRecord.line(try objects(in: context).map { (name($0), others($0).map(name)) })
    }

    func record(deleting name: String) throws -> DeletionRecord {
        let container = NSPersistentContainer(name: "graph", managedObjectModel: model())
        container.persistentStoreDescriptions.first?.url = URL(fileURLWithPath: "/dev/null")
        var failure: (any Error)?
        container.loadPersistentStores { failure = $1 }
        if let failure { throw failure }
        let context = container.newBackgroundContext()
        return try context.performAndWait {
            var made: [String: NSManagedObject] = [:]
            for (end, _) in Self.ends(shape) {
                let entity = shape.links.contains { $0.0 == end } ? "First" : "Second"
                let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
                object.setValue(end, forKey: "name")
                made[end] = object
            }
            for (start, ends) in shape.links {
                let objects = ends.compactMap { made[$0] }
                made[start]?.setValue(shape.isToMany.0 ? Set(objects) : objects[0], forKey: "others")
            }
            try context.save()
            made[name].map(context.delete)
            context.processPendingChanges()
            var record = DeletionRecord(before: try line(context))
            do { try context.save() } catch let error as NSError where (1550...1690).contains(error.code) {
                record.isRefused = true
                context.rollback()
            }
            record.after = try line(context)
            let other = container.newBackgroundContext()
            record.elsewhere = try other.performAndWait { try line(other) }
            return record
        }
    }
}

@Suite("The delete rules of the two sides of a relationship")
struct DeleteRuleTests {
    private static let rules: [any DeleteRule.Type] = [NoAction.self, Nullify.self, Cascade.self, Deny.self]
    private static let pairs = rules.flatMap { first in rules.map { (first, $0) } }

    private func compare<L: DeleteRule, R: DeleteRule>(_ first: L.Type, _ second: R.Type, _ shape: RelationshipShape)
        throws
    {
        for name in shape == .manyToMany ? ["a", "2"] : ["a", "1"] {
            let models = try ModelGraph<L, R>(shape: shape).record(deleting: name)
            let objects = try ObjectGraph(shape: shape, rules: (L.objects, R.objects)).record(deleting: name)
            #expect(models == objects, "\(L.self) and \(R.self), \(shape.rawValue), \(name) deleted")
        }
    }

    @Test("do with models what they do with managed objects, in each pair", arguments: RelationshipShape.allCases)
    func pairs(shape: RelationshipShape) throws {
        for (first, second) in Self.pairs { try compare(first, second, shape) }
    }

    @Test("leave a model, empty its relationship, delete it, or refuse the deletion")
    func meaning() throws {
        func record<L: DeleteRule>(_ rule: L.Type) throws -> DeletionRecord {
            try ModelGraph<L, Nullify>(shape: .oneToMany).record(deleting: "a")
        }
        let before = "1(a) 2(a) 3(b) a(1,2) b(3)"
        #expect(try record(NoAction.self).elsewhere == "1() 2() 3(b) b(3)")
        #expect(try record(Nullify.self).elsewhere == "1() 2() 3(b) b(3)")
        #expect(try record(Cascade.self).elsewhere == "3(b) b(3)")
        let denied = try record(Deny.self)
        #expect(denied.isRefused)
        #expect([denied.after, denied.elsewhere] == [before, before])
    }

    @Test("refuse a deletion that would empty a relationship which must have a model")
    func required() throws {
        #expect(try ModelGraph<Nullify, Nullify>(shape: .requiredOneToMany).record(deleting: "a").isRefused)
        #expect(try ModelGraph<Nullify, Nullify>(shape: .oneToRequiredOne).record(deleting: "a").isRefused)
        let cascade = try ModelGraph<Cascade, Nullify>(shape: .requiredOneToMany).record(deleting: "a")
        #expect(cascade.elsewhere == "3(b) b(3)")
    }
}
