import CoreData
import TestSupport
import Testing

/// Notes the conflicts, and resolves them as its superclass does.
private final class Noting: NSMergePolicy, @unchecked Sendable {
    // @unchecked Sendable: used on one context's queue.
    var constraints: [NSConstraintConflict] = []
    var versions: [NSMergeConflict] = []
    var lists = 0

    override func resolve(mergeConflicts list: [Any]) throws {
        lists += 1
        try super.resolve(mergeConflicts: list)
    }
    override func resolve(constraintConflicts list: [NSConstraintConflict]) throws {
        constraints += list
        try super.resolve(constraintConflicts: list)
    }
    override func resolve(optimisticLockingConflicts list: [NSMergeConflict]) throws {
        versions += list
        try super.resolve(optimisticLockingConflicts: list)
    }
}

@Suite("Constraint conflicts, and policies of one's own")
struct ConstraintConflictTests {
    let folder: TestFolder
    let container: NSPersistentContainer
    let context: NSManagedObjectContext

    init() throws {
        let user = Library.entity(
            "User",
            [
                Library.attribute("uid", .stringAttributeType), Library.attribute("realm", .integer64AttributeType),
                Library.attribute("name", .stringAttributeType),
            ])
        user.uniquenessConstraints = [["uid", "realm"]]
        let model = NSManagedObjectModel()
        model.entities = [user]
        folder = try TestFolder()
        container = try Library.stored(at: folder.file("library.sqlite"), model)
        context = container.newBackgroundContext()
        try context.performAndWait { [context] in
            context.make("User", ["uid": "1", "realm": 1, "name": "old"])
            try context.save()
        }
    }

    private func rows() throws -> [String] {
        try plainSQL("SELECT ZUID, ZNAME FROM ZUSER ORDER BY ZUID, ZNAME", in: folder.file("library.sqlite"))
    }

    @Test("A conflict with a row names the constraint, its values, the row and the unsaved objects")
    func fields() throws {
        let policy = Noting(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        try context.performAndWait {
            context.mergePolicy = policy
            let new = context.make("User", ["uid": "1", "realm": 1, "name": "new"])
            try context.save()
            let conflict = try #require(policy.constraints.first)
            #expect(policy.constraints.count == 1 && policy.lists == 1)
            #expect(conflict.constraint == ["uid", "realm"])
            #expect(conflict.constraintValues["uid"] as? String == "1")
            #expect(conflict.constraintValues["realm"] as? Int == 1)
            #expect(conflict.databaseObject?.objectID.uriRepresentation().lastPathComponent == "p1")
            #expect(conflict.databaseSnapshot?["name"] as? String == "old")
            #expect(conflict.conflictingObjects == [new])
            #expect(conflict.conflictingSnapshots.count == 1)
        }
        #expect(try rows() == ["1|new"])
    }

    @Test("A conflict among unsaved objects has no row")
    func unsaved() throws {
        let policy = Noting(merge: .mergeByPropertyObjectTrumpMergePolicyType)
        try context.performAndWait {
            context.mergePolicy = policy
            for name in ["a", "b"] { context.make("User", ["uid": "2", "realm": 1, "name": name]) }
            try context.save()
            let conflict = try #require(policy.constraints.first)
            #expect(conflict.databaseObject == nil && conflict.databaseSnapshot == nil)
            #expect(conflict.conflictingObjects.count == 2)
        }
        #expect(try rows() == ["1|old", "2|b"])
    }

    @Test(
        "By policy, the new object's values or the row's stay",
        arguments: [
            (NSMergePolicyType.overwriteMergePolicyType, "1|new"),
            (.mergeByPropertyObjectTrumpMergePolicyType, "1|new"),
            (.mergeByPropertyStoreTrumpMergePolicyType, "1|old"), (.rollbackMergePolicyType, "1|old"),
        ])
    func policies(type: NSMergePolicyType, row: String) throws {
        try context.performAndWait {
            context.mergePolicy = NSMergePolicy(merge: type)
            context.make("User", ["uid": "1", "realm": 1, "name": "new"])
            try context.save()
            #expect(!context.hasChanges)
        }
        #expect(try rows() == [row])
    }

    @Test("The error policy throws 133021 with the conflicts, and leaves row and changes as they were")
    func error() throws {
        context.performAndWait {
            let new = context.make("User", ["uid": "1", "realm": 1, "name": "new"])
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect(error?.code == NSManagedObjectConstraintMergeError)
            let conflicts = error?.userInfo["conflictList"] as? [NSConstraintConflict]
            #expect(conflicts?.first?.conflictingObjects == [new])
            #expect(context.insertedObjects == [new])
        }
        #expect(try rows() == ["1|old"])
    }

    @Test("Thousands of objects that are there already are brought up to date in one save")
    func many() throws {
        try context.performAndWait {
            for number in 0..<2000 { context.make("User", ["uid": "n\(number)", "realm": 1, "name": "old"]) }
            try context.save()
            context.reset()
            context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
            for number in 0..<2000 { context.make("User", ["uid": "n\(number)", "realm": 1, "name": "new"]) }
            try context.save()
            let count = try context.all("User", NSPredicate(format: "name = 'new'")).count
            #expect(count == 2000)
        }
        #expect(try rows().count == 2001)
    }

    @Test("A conflict with a row that was deleted has version 0; to overwrite writes it anew, to roll back forgets it")
    func deletedRow() throws {
        let other = container.newBackgroundContext()
        for (type, rest) in [(NSMergePolicyType.overwriteMergePolicyType, 1), (.rollbackMergePolicyType, 0)] {
            let policy = Noting(merge: type)
            try context.performAndWait {
                context.mergePolicy = policy
                let user = try #require(try context.all("User").first)
                user.setValue("\(type)", forKey: "name")
                try other.performAndWait {
                    try other.all("User").forEach(other.delete)
                    try other.save()
                }
                try context.save()
                #expect(policy.versions.first?.newVersionNumber == 0, "\(type)")
                #expect(policy.versions.first?.sourceObject === user)
                context.reset()
            }
            #expect(try rows().count == rest)
        }
    }

    @Test(
        "A new object that lost to a row with the same unique values is a fault without a context afterwards (LoopKit)")
    func superseded() throws {
        for type in [
            NSMergePolicyType.mergeByPropertyStoreTrumpMergePolicyType, .mergeByPropertyObjectTrumpMergePolicyType,
        ] {
            try context.performAndWait {
                context.mergePolicy = NSMergePolicy(merge: type)
                let known = context.make("User", ["uid": "1", "realm": 1, "name": "new"])
                let unknown = context.make("User", ["uid": "\(type.rawValue)", "realm": 2, "name": "new"])
                try context.save()
                #expect(known.isFault && known.managedObjectContext == nil, "\(type)")
                #expect(known.value(forKey: "name") == nil && known.isFault, "\(type)")
                #expect(!unknown.isFault && unknown.value(forKey: "name") as? String == "new", "\(type)")
            }
        }
    }

    @Test("A new object that lost has its values while a save that fails is put right")
    func supersededInFailure() throws {
        context.performAndWait {
            let known = context.make("User", ["uid": "1", "realm": 1, "name": "new"])
            #expect(throws: NSError.self) { try context.save() }
            #expect(!known.isFault && known.managedObjectContext === context)
            #expect(known.value(forKey: "name") as? String == "new")
        }
    }

    @Test("Two subentities may each have a constraint of the same name; their values do not conflict")
    func siblings() throws {
        func named(_ name: String) -> NSEntityDescription {
            let entity = Library.entity(name, [Library.attribute("name", .stringAttributeType)])
            entity.uniquenessConstraints = [["name"]]
            return entity
        }
        let animal = Library.entity("Animal", [Library.attribute("age", .integer16AttributeType)])
        animal.subentities = [named("Cat"), named("Dog")]
        let model = NSManagedObjectModel()
        model.entities = [animal] + animal.subentities
        let container = try Library.stored(at: folder.file("animals.sqlite"), model)
        for age in 1...2 {
            let context = container.newBackgroundContext()
            try context.performAndWait {
                context.mergePolicy = NSMergePolicy.mergeByPropertyObjectTrump
                if age == 2 { context.make("Cat", ["name": "x", "age": age]) }
                context.make("Dog", ["name": "x", "age": age])
                try context.save()
            }
        }
        let context = container.newBackgroundContext()
        try context.performAndWait {
            let found = try context.all("Animal").map { "\($0.entity.name ?? "") \($0.value(forKey: "age") ?? "")" }
            #expect(found.sorted() == ["Cat 2", "Dog 2"])
        }
    }
}
