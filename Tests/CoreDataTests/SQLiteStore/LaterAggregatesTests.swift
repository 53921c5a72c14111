import PredicateFormat
import TestSupport
import Testing

@testable import CoreData
@testable import CoreDataModel
@testable import SQLiteEngine

private typealias NSExpression = PredicateFormat.NSExpression

@Suite("Aggregates of derived attributes, when many objects are changed at once")
struct LaterAggregatesTests {
    private let folder: TestFolder
    private let container: NSPersistentContainer

    init() throws {
        folder = try TestFolder()
        container = try Library.stored(at: folder.store, Self.model())
    }

    /// Banks with accounts, these with entries, and labels of entries.
    private static func model() -> NSManagedObjectModel {
        func derived(_ name: String, _ path: String) -> NSDerivedAttributeDescription {
            makeDerived(name, .integer64AttributeType, NSExpression(forKeyPath: path))
        }
        return makeModel(
            makeEntity(
                "Bank", derived("total", "accounts.@sum.total"), makeToMany("accounts", "Account", inverse: "bank")),
            makeEntity(
                "Account", derived("total", "entries.@sum.amount"), derived("greatest", "entries.@max.amount"),
                derived("count", "entries.@count"), makeToOne("bank", "Bank", inverse: "accounts"),
                makeToMany("entries", "Entry", inverse: "account")),
            makeEntity(
                "Entry", makeAttribute("amount", .integer64AttributeType), derived("labelCount", "labels.@count"),
                makeToOne("account", "Account", inverse: "entries"), makeToMany("labels", "Label", inverse: "entries")),
            makeEntity(
                "Label", derived("entryCount", "entries.@count"), makeToMany("entries", "Entry", inverse: "labels")))
    }

    private var triggers: [String] {
        get throws {
            try plainSQL("SELECT sql FROM sqlite_master WHERE type = 'trigger' ORDER BY name", in: folder.store)
        }
    }

    private var reports: Int {
        get throws {
            let store = container.persistentStoreCoordinator.persistentStores.first?.engine as? SQLiteEngine
            return try #require(store?.opened).derived.changes.count
        }
    }

    private func expectAgreement() throws {
        let wrong = """
            SELECT 'account', Z_PK FROM ZACCOUNT a WHERE ZTOTAL IS NOT (SELECT IFNULL(SUM(ZAMOUNT), 0) FROM ZENTRY WHERE ZACCOUNT = a.Z_PK)
            OR ZGREATEST IS NOT (SELECT MAX(ZAMOUNT) FROM ZENTRY WHERE ZACCOUNT = a.Z_PK)
            OR ZCOUNT IS NOT (SELECT COUNT(*) FROM ZENTRY WHERE ZACCOUNT = a.Z_PK)
            UNION ALL SELECT 'bank', Z_PK FROM ZBANK b WHERE ZTOTAL IS NOT (SELECT IFNULL(SUM(ZTOTAL), 0) FROM ZACCOUNT WHERE ZBANK = b.Z_PK)
            UNION ALL SELECT 'label', Z_PK FROM ZLABEL l WHERE ZENTRYCOUNT IS NOT (SELECT COUNT(*) FROM Z_3LABELS WHERE Z_4LABELS = l.Z_PK)
            UNION ALL SELECT 'entry', Z_PK FROM ZENTRY e WHERE ZLABELCOUNT IS NOT (SELECT COUNT(*) FROM Z_3LABELS WHERE Z_3ENTRIES = e.Z_PK)
            """
        #expect(try plainSQL(wrong, in: folder.store) == [])
    }

    private func fill(_ count: Int) throws {
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let bank = context.make("Bank")
            let accounts = (0..<2).map { _ in context.make("Account", ["bank": bank]) }
            let labels = (0..<2).map { _ in context.make("Label") }
            for number in 0..<count {
                let entry = context.make("Entry", ["amount": number, "account": accounts[number % 2]])
                entry.setValue(Set(labels.prefix(number % 3)), forKey: "labels")
            }
            try context.save()
            #expect(bank.value(forKey: "total") as? Int == count * (count - 1) / 2)
            #expect(accounts[0].value(forKey: "count") as? Int == count / 2)
            #expect(labels[1].value(forKey: "entryCount") as? Int == count / 3)
        }
    }

    @Test("are computed once for each object, not with each change, and the objects have them after the save")
    func insertions() throws {
        let before = try triggers
        try fill(600)
        // Counts of one-to-many relationships are incremented, and 5 objects and 600 entries have values at the
        // beginning.
        #expect(try reports < 600 + 600 + 400 + 50)
        try expectAgreement()
        #expect(try triggers == before)
    }

    @Test("follow updates, moves, deletions and batch requests")
    func changes() throws {
        try fill(600)
        let before = try triggers
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let accounts = try context.all("Account")
            for entry in try context.all("Entry") {
                entry.setValue(7, forKey: "amount")
                entry.setValue(accounts[0], forKey: "account")
            }
            try context.save()
            #expect(accounts[0].value(forKey: "total") as? Int == 4200)
        }
        try expectAgreement()
        try context.performAndWait {
            for entry in try context.all("Entry").prefix(300) { context.delete(entry) }
            try context.save()
        }
        try expectAgreement()
        try context.performAndWait {
            let update = NSBatchUpdateRequest(entityName: "Entry")
            update.propertiesToUpdate = ["amount": 3]
            try context.execute(update)
        }
        try expectAgreement()
        try context.performAndWait {
            let entries = NSFetchRequest<any NSFetchRequestResult>(entityName: "Entry")
            entries.fetchLimit = 100
            try context.execute(NSBatchDeleteRequest(fetchRequest: entries))
        }
        try expectAgreement()
        #expect(try triggers == before)
    }

    @Test("follow single changes afterwards, also after a save that failed")
    func afterwards() throws {
        try fill(600)
        let context = container.newBackgroundContext()
        context.automaticallyMergesChangesFromParent = false
        try context.performAndWait {
            let stale = try context.all("Entry")
            for entry in stale { _ = entry.value(forKey: "amount") }
            let other = container.newBackgroundContext()
            try other.performAndWait {
                try other.all("Entry").first?.setValue(1000, forKey: "amount")
                try other.save()
            }
            for entry in stale { entry.setValue(1, forKey: "amount") }
            #expect(throws: (any Error).self) { try context.save() }
        }
        try expectAgreement()
        let next = container.newBackgroundContext()
        try next.performAndWait {
            next.make("Entry", ["amount": 5, "account": try next.all("Account").first])
            try next.save()
        }
        try expectAgreement()
    }

    @Test("are left to the triggers where a store has others, too")
    func otherTriggers() throws {
        let coordinator = container.persistentStoreCoordinator
        try coordinator.remove(coordinator.persistentStores[0])
        try execute(
            "CREATE TABLE LOG (K); CREATE TRIGGER ZT AFTER INSERT ON ZENTRY BEGIN INSERT INTO LOG VALUES (NEW.Z_PK); END",
            in: folder.store)
        let context = try Library.stored(at: folder.store, Self.model()).newBackgroundContext()
        try context.performAndWait {
            let account = context.make("Account")
            for number in 0..<300 { context.make("Entry", ["amount": number, "account": account]) }
            try context.save()
        }
        #expect(try plainSQL("SELECT COUNT(*) FROM LOG", in: folder.store) == ["300"])
        try expectAgreement()
    }
}
