import Foundation
import SQLiteConnection
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLGeneration
@testable import SQLiteEngine
@testable import StoreEngine

@Suite("To-many relationships without inverse")
struct OwnerColumnTests {
    private let folder: TestFolder

    init() throws { folder = try TestFolder() }

    private func model(ordered: Bool = false) -> NSManagedObjectModel {
        makeModel(
            makeEntity(
                "Drink", makeAttribute("name", .stringAttributeType),
                makeToMany("spec", "Ingredient", inverse: nil, ordered: ordered)),
            makeEntity("Ingredient", makeAttribute("name", .stringAttributeType)))
    }

    private func stack(_ model: NSManagedObjectModel, options: [AnyHashable: Any]? = nil) throws
        -> NSManagedObjectContext
    {
        let coordinator = NSPersistentStoreCoordinator(managedObjectModel: model)
        _ = try coordinator.addPersistentStore(
            ofType: NSSQLiteStoreType, configurationName: nil, at: folder.store, options: options)
        let context = NSManagedObjectContext(concurrencyType: .privateQueueConcurrencyType)
        context.persistentStoreCoordinator = coordinator
        return context
    }

    private func insert(_ entity: String, _ name: String, _ context: NSManagedObjectContext) -> NSManagedObject {
        let object = NSEntityDescription.insertNewObject(forEntityName: entity, into: context)
        object.setValue(name, forKey: "name")
        return object
    }

    private func rows(_ columns: String = "ZNAME, Z1SPEC") throws -> [String] {
        try plainSQL("SELECT \(columns) FROM ZINGREDIENT ORDER BY ZNAME", in: folder.store)
    }

    @Test("The destination's row has its owner, and gives it up")
    func saving() throws {
        let context = try stack(model())
        try context.performAndWait {
            let drink = insert("Drink", "Mule", context)
            let (gin, lime) = (insert("Ingredient", "gin", context), insert("Ingredient", "lime", context))
            drink.setValue(Set([gin, lime]), forKey: "spec")
            try context.save()
            #expect(try rows() == ["gin|1", "lime|1"])
            drink.setValue(Set([lime]), forKey: "spec")
            try context.save()
            #expect(try rows("ZNAME, Z1SPEC, Z_OPT") == ["gin||1", "lime|1|1"])
            context.refreshAllObjects()
            #expect((drink.value(forKey: "spec") as? Set<NSManagedObject>) == [lime])
        }
    }

    @Test("An order is kept in the destination's row, too")
    func order() throws {
        let context = try stack(model(ordered: true))
        try context.performAndWait {
            let drink = insert("Drink", "Mule", context)
            let all = ["a", "b", "c"].map { insert("Ingredient", $0, context) }
            drink.setValue(NSOrderedSet(array: [all[2], all[0], all[1]]), forKey: "spec")
            try context.save()
            #expect(try rows("ZNAME, Z1SPEC, Z_FOK_1SPEC") == ["a|1|3072", "b|1|4096", "c|1|2048"])
            drink.setValue(NSOrderedSet(array: [all[0], all[2]]), forKey: "spec")
            try context.save()
            #expect(try rows("ZNAME, Z1SPEC, Z_FOK_1SPEC IS NULL") == ["a|1|0", "b||1", "c|1|0"])
            context.refreshAllObjects()
            let spec = try #require(drink.value(forKey: "spec") as? NSOrderedSet)
            #expect(spec.array.compactMap { ($0 as? NSManagedObject)?.value(forKey: "name") as? String } == ["a", "c"])
        }
    }

    @Test("An owner that is deleted leaves its destinations without one, one by one and in a batch")
    func deletion() throws {
        let context = try stack(model())
        try context.performAndWait {
            for name in ["x", "y"] {
                let drink = insert("Drink", name, context)
                drink.setValue(Set([insert("Ingredient", "of " + name, context)]), forKey: "spec")
            }
            try context.save()
            let request = NSFetchRequest<NSManagedObject>(entityName: "Drink")
            request.predicate = NSPredicate(format: "name == 'x'")
            let found = try context.fetch(request)
            found.forEach(context.delete)
            try context.save()
            #expect(try rows("ZNAME, Z1SPEC IS NULL") == ["of x|1", "of y|0"])
            _ = try context.execute(NSBatchDeleteRequest(fetchRequest: NSFetchRequest(entityName: "Drink")))
            #expect(try rows("ZNAME, Z1SPEC IS NULL") == ["of x|1", "of y|1"])
        }
    }

    @Test("Predicates and counts go through the column")
    func predicates() throws {
        let context = try stack(model())
        try context.performAndWait {
            let drink = insert("Drink", "Mule", context)
            _ = insert("Drink", "Water", context)
            drink.setValue(
                Set([insert("Ingredient", "gin", context), insert("Ingredient", "lime", context)]), forKey: "spec")
            try context.save()
            for format in [
                "ANY spec.name == 'gin'", "spec.@count == 2", "SUBQUERY(spec, $s, $s.name == 'lime').@count > 0",
            ] {
                let request = NSFetchRequest<NSManagedObject>(entityName: "Drink")
                request.predicate = NSPredicate(format: format)
                #expect(try context.fetch(request) == [drink], "\(format)")
            }
        }
    }

    @Test("A store of an earlier version keeps its join table, and works with it")
    func formerJoinTable() throws {
        do { _ = try openStore(model(), at: folder.store) }
        do {
            let connection = try Connection(path: folder.store.path, mode: .readWrite)
            try connection.execute("DROP INDEX ZINGREDIENT_Z1SPEC_INDEX")
            try connection.execute("ALTER TABLE ZINGREDIENT DROP COLUMN Z1SPEC")
            try connection.execute(
                "CREATE TABLE Z_1SPEC ( Z_1DRINK INTEGER, Z_2SPEC INTEGER, PRIMARY KEY (Z_1DRINK, Z_2SPEC) )")
        }
        let context = try stack(model())
        try context.performAndWait {
            let drink = insert("Drink", "Mule", context)
            let gin = insert("Ingredient", "gin", context)
            drink.setValue(Set([gin]), forKey: "spec")
            try context.save()
            #expect(try plainSQL("SELECT * FROM Z_1SPEC", in: folder.store) == ["1|1"])
            context.refreshAllObjects()
            #expect((drink.value(forKey: "spec") as? Set<NSManagedObject>) == [gin])
        }
    }

    // MARK: Migration

    /// The second version has another entity in front, so that the numbers are others; and one with an inverse.
    private func next(inverse: Bool = false, ordered: Bool = false) -> NSManagedObjectModel {
        let drink = makeEntity(
            "Drink", makeAttribute("name", .stringAttributeType), makeAttribute("note", .stringAttributeType),
            makeToMany("spec", "Ingredient", inverse: inverse ? "drink" : nil, ordered: ordered))
        let ingredient = makeEntity("Ingredient", makeAttribute("name", .stringAttributeType))
        if inverse { ingredient.properties.append(makeToOne("drink", "Drink", inverse: "spec")) }
        return makeModel(makeEntity("Bar", makeAttribute("name", .stringAttributeType)), drink, ingredient)
    }

    private func fill(_ model: NSManagedObjectModel) throws {
        let context = try stack(model)
        try context.performAndWait {
            for name in ["x", "y"] {
                let drink = insert("Drink", name, context)
                let members = [insert("Ingredient", name + "1", context), insert("Ingredient", name + "2", context)]
                drink.setValue(
                    model.entitiesByName["Drink"]?.relationshipsByName["spec"]?.isOrdered == true
                        ? NSOrderedSet(array: members.reversed()) as Any : Set(members) as Any, forKey: "spec")
                // In this order, so that the keys are known.
                try context.save()
            }
        }
    }

    private var pairs: [String] {
        get throws {
            try plainSQL(
                "SELECT i.ZNAME, d.ZNAME FROM ZINGREDIENT i LEFT JOIN ZDRINK d ON d.Z_PK = i.Z2SPEC ORDER BY 1",
                in: folder.store)
        }
    }

    private static var migrating: [AnyHashable: Any] {
        [NSMigratePersistentStoresAutomaticallyOption: true, NSInferMappingModelAutomaticallyOption: true]
    }

    @Test("The owners survive a migration that numbers entities anew", arguments: [false, true])
    func renumbering(ordered: Bool) throws {
        try fill(model(ordered: ordered))
        _ = try stack(next(ordered: ordered), options: Self.migrating)
        #expect(try pairs == ["x1|x", "x2|x", "y1|y", "y2|y"])
        guard ordered else { return }
        #expect(
            try plainSQL("SELECT ZNAME FROM ZINGREDIENT ORDER BY Z2SPEC, Z_FOK_2SPEC", in: folder.store)
                .map { $0.suffix(1) } == ["2", "1", "2", "1"])
    }

    @Test("A relationship gets an inverse, and loses it")
    func inverses() throws {
        try fill(model())
        _ = try stack(next(inverse: true), options: Self.migrating)
        #expect(
            try plainSQL(
                "SELECT i.ZNAME, d.ZNAME FROM ZINGREDIENT i LEFT JOIN ZDRINK d ON d.Z_PK = i.ZDRINK ORDER BY 1",
                in: folder.store) == ["x1|x", "x2|x", "y1|y", "y2|y"])
        _ = try stack(next(), options: Self.migrating)
        #expect(try pairs == ["x1|x", "x2|x", "y1|y", "y2|y"])
    }

    @Test("A join table of an earlier version becomes a column")
    func joinTableBecomesColumn() throws {
        try fill(model())
        do {
            let connection = try Connection(path: folder.store.path, mode: .readWrite)
            try connection.execute(
                "CREATE TABLE Z_1SPEC ( Z_1DRINK INTEGER, Z_2SPEC INTEGER, PRIMARY KEY (Z_1DRINK, Z_2SPEC) )")
            try connection.execute("INSERT INTO Z_1SPEC SELECT Z1SPEC, Z_PK FROM ZINGREDIENT")
            try connection.execute("DROP INDEX ZINGREDIENT_Z1SPEC_INDEX")
            try connection.execute("ALTER TABLE ZINGREDIENT DROP COLUMN Z1SPEC")
        }
        _ = try stack(next(), options: Self.migrating)
        #expect(try pairs == ["x1|x", "x2|x", "y1|y", "y2|y"])
        #expect(
            try plainSQL("SELECT name FROM sqlite_master WHERE name LIKE '%SPEC%'", in: folder.store) == [
                "ZINGREDIENT_Z2SPEC_INDEX"
            ])
    }
}
