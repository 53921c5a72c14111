import CoreData
import TestSupport
import Testing

@Suite("Saves with conflicts of both kinds")
struct ConflictOrderTests {
    private let container: NSPersistentContainer
    private let folder: TestFolder

    init() throws {
        let item = Library.entity("Item", [Library.attribute("uid", .stringAttributeType)])
        item.uniquenessConstraints = [["uid"]]
        Library.connect(item, "boss", toMany: false, item, "staff", inverseToMany: true)
        let model = NSManagedObjectModel()
        model.entities = [item]
        folder = try TestFolder()
        container = try Library.stored(at: folder.store, model)
    }

    @Test(
        "An object that others deleted is not taken for one that has its former unique value",
        arguments: [NSMergePolicy.mergeByPropertyStoreTrump, NSMergePolicy.rollback])
    func deleted(policy: NSMergePolicy) throws {
        let (context, other) = (container.newBackgroundContext(), container.newBackgroundContext())
        context.mergePolicy = policy
        try context.performAndWait {
            let boss = context.make("Item", ["uid": "boss"])
            context.make("Item", ["uid": "taken"])
            let third = context.make("Item", ["uid": "third"])
            try context.save()
            third.setValue("taken", forKey: "uid")
            let member = context.make("Item", ["boss": boss])
            try other.performAndWait {
                other.delete(other.object(with: boss.objectID))
                other.make("Item", ["uid": "boss"])
                try other.save()
            }
            try context.save()
            #expect(member.value(forKey: "boss") == nil)
        }
        let fresh = container.newBackgroundContext()
        try fresh.performAndWait {
            let items = try fresh.all("Item")
            #expect(items.count == 4)
            #expect(items.allSatisfy { $0.value(forKey: "boss") == nil })
        }
    }
}
