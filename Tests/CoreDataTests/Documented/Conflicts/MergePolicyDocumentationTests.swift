import CoreData
import TestSupport
import Testing

/// Checks from the pages of `NSMergePolicy`, `NSMergePolicyType`, `NSMergeConflict` and `NSConstraintConflict`.
@MainActor @Suite("Documented: merge policies and conflicts")
struct MergePolicyDocumentationTests {
    private let container: NSPersistentContainer
    private var context: NSManagedObjectContext { container.viewContext }
    private let author: NSManagedObject
    private let book: NSManagedObject

    init() throws {
        let model = Library.model()
        model.entitiesByName["Tag"]?.uniquenessConstraints = [["name"]]
        container = try Library.inMemory(model)
        author = container.viewContext.make("Author", ["name": "Ann"])
        book = container.viewContext.make("Book", ["title": "Old", "isbn": "1", "author": author])
        container.viewContext.make("Tag", ["name": "taken"])
        try container.viewContext.save()
    }

    /// A policy that notes what it is asked to resolve, and resolves it as its superclass does.
    private final class Noting: NSMergePolicy, @unchecked Sendable {
        // @unchecked Sendable: used on the main queue only.
        var versions: [NSMergeConflict] = []
        var constraints: [NSConstraintConflict] = []
        var lists: [Int] = []

        override func resolve(mergeConflicts list: [Any]) throws {
            lists.append(list.count)
            try super.resolve(mergeConflicts: list)
        }
        override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
            versions += list
            try super.resolve(optimisticLockingConflicts: list)
        }
        override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
            constraints += list
            try super.resolve(constraintConflicts: list)
        }
    }

    private func changeElsewhere() throws {
        let other = container.newBackgroundContext()
        try other.performAndWait {
            other.object(with: book.objectID).setValue("Theirs", forKey: "title")
            try other.save()
        }
    }

    // MARK: Policies

    @Test("The policies that there are, their types, and the older constants for them")
    func policies() {
        let known: [(NSMergePolicy, AnyObject, NSMergePolicyType, UInt)] = [
            (.error, NSErrorMergePolicy, .errorMergePolicyType, 0),
            (
                .mergeByPropertyStoreTrump, NSMergeByPropertyStoreTrumpMergePolicy,
                .mergeByPropertyStoreTrumpMergePolicyType, 1
            ),
            (
                .mergeByPropertyObjectTrump, NSMergeByPropertyObjectTrumpMergePolicy,
                .mergeByPropertyObjectTrumpMergePolicyType, 2
            ),
            (.overwrite, NSOverwriteMergePolicy, .overwriteMergePolicyType, 3),
            (.rollback, NSRollbackMergePolicy, .rollbackMergePolicyType, 4),
        ]
        for (policy, constant, type, number) in known {
            #expect(policy === constant && policy.mergeType == type && type.rawValue == number)
            #expect(NSMergePolicy(merge: type).mergeType == type)
        }
        #expect((NSManagedObjectContext(.privateQueue).mergePolicy as? NSMergePolicy) === NSMergePolicy.error)
    }

    @Test(
        "The error policy: the conflicts under NSPersistentStoreSaveConflictsErrorKey, the IDs under NSUpdatedObjectsKey"
    )
    func errorPolicy() throws {
        book.setValue("Mine", forKey: "title")
        try changeElsewhere()
        let error = #expect(throws: NSError.self) { try context.save() }
        #expect(error?.code == NSManagedObjectMergeError)
        let conflicts = error?.userInfo[NSPersistentStoreSaveConflictsErrorKey] ?? error?.userInfo["conflictList"]
        #expect((conflicts as? [NSMergeConflict])?.map(\.sourceObject) == [book])
        let updated = error?.userInfo[NSUpdatedObjectsKey] as? [NSManagedObjectID]
        #expect(updated == [book.objectID])
    }

    @Test("A subclass resolves conflicts itself: each kind has a method, and one gets them all")
    func subclasses() throws {
        let policy = Noting(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        context.mergePolicy = policy
        book.setValue("Mine", forKey: "title")
        context.make("Tag", ["name": "taken"])
        try changeElsewhere()
        try context.save()
        #expect(policy.versions.map(\.sourceObject) == [book])
        #expect(policy.constraints.map(\.constraint) == [["name"]])
        #expect(policy.lists.reduce(0, +) == 2)
        context.refresh(book, mergeChanges: false)
        #expect(book.shown("title") == "Mine")
    }

    @Test("resolve(mergeConflicts:) of the error policy throws")
    func resolvingWithAnError() {
        let conflict = NSMergeConflict(
            source: book, newVersion: 2, oldVersion: 1, cachedSnapshot: nil, persistedSnapshot: nil)
        #expect(throws: NSError.self) { try NSMergePolicy.error.resolve(mergeConflicts: [conflict]) }
        #expect(throws: NSError.self) { try NSMergePolicy.error.resolve(optimisticLockingConflicts: [conflict]) }
        let constraint = NSConstraintConflict(
            constraint: ["name"], database: nil, databaseSnapshot: nil, conflicting: [author],
            conflictingSnapshots: [])
        #expect(throws: NSError.self) { try NSMergePolicy.error.resolve(constraintConflicts: [constraint]) }
        #expect(throws: Never.self) { try NSMergePolicy.overwrite.resolve(mergeConflicts: []) }
    }

    // MARK: Conflicts

    @Test("A merge conflict: the object, versions, and snapshots of attributes and to-one relationships as IDs")
    func mergeConflicts() throws {
        let policy = Noting(merge: .overwriteMergePolicyType)
        context.mergePolicy = policy
        book.setValue("Mine", forKey: "title")
        try changeElsewhere()
        try context.save()
        let conflict = try #require(policy.versions.first)
        #expect(conflict.sourceObject === book && conflict.newVersionNumber == conflict.oldVersionNumber + 1)
        let snapshots = [conflict.objectSnapshot, conflict.cachedSnapshot, conflict.persistedSnapshot]
        let titles = snapshots.compactMap { $0 }.compactMap { $0["title"] as? String }
        #expect(titles.contains("Theirs"))
        for snapshot in snapshots.compactMap({ $0 }) {
            #expect(snapshot["author"] as? NSManagedObjectID == author.objectID && snapshot["tags"] == nil)
            #expect(snapshot["price"] is NSNull && snapshot["isbn"] as? String == "1")
        }
    }

    @Test("A version of 0 says that the object was deleted: there is no snapshot of it")
    func deletedConflicts() throws {
        let policy = Noting(merge: .rollbackMergePolicyType)
        context.mergePolicy = policy
        book.setValue("Mine", forKey: "title")
        let other = container.newBackgroundContext()
        try other.performAndWait {
            other.delete(other.object(with: book.objectID))
            try other.save()
        }
        try context.save()
        #expect(policy.versions.first?.newVersionNumber == 0)
        #expect(policy.versions.first?.persistedSnapshot == nil)
    }

    @Test("A merge conflict can be made by hand, and has what it was made with")
    func madeConflicts() {
        let conflict = NSMergeConflict(
            source: book, newVersion: 3, oldVersion: 2, cachedSnapshot: ["title": "C"],
            persistedSnapshot: ["title": "P"])
        #expect(conflict.newVersionNumber == 3 && conflict.oldVersionNumber == 2 && conflict.sourceObject === book)
        #expect(conflict.cachedSnapshot?["title"] as? String == "C")
        #expect(conflict.persistedSnapshot?["title"] as? String == "P" && conflict.objectSnapshot != nil)
    }

    @Test("A constraint conflict: constraint, values, the row's object and snapshot, the objects that want its values")
    func constraintConflicts() throws {
        let policy = Noting(merge: .mergeByPropertyStoreTrumpMergePolicyType)
        context.mergePolicy = policy
        let new = context.make("Tag", ["name": "taken"])
        try context.save()
        let conflict = try #require(policy.constraints.first)
        #expect(conflict.constraint == ["name"] && conflict.constraintValues["name"] as? String == "taken")
        #expect(
            conflict.databaseObject?.entity.name == "Tag" && conflict.databaseSnapshot?["name"] as? String == "taken")
        #expect(conflict.conflictingObjects == [new] && conflict.conflictingSnapshots.count == 1)
        // CoreDataRepository compares errors with an empty conflict.
        #expect(NSConstraintConflict().constraint.isEmpty)
    }
}
