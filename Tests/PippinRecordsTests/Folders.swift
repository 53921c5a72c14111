import PippinRecords
import TestSupport

/// A folder in folders, which it owns.
struct Folder: Identifiable {
    let uid: String
    var id: String { uid }
    var owner = Person.ada
    var parent: String?
}

final class FolderRecord: NSManagedObject, RecordFromModel {
    func fromModel(_ folder: Folder) throws {
        setValue(try PersonRecord.record(from: folder.owner, in: managedObjectContext), forKey: "owner")
    }

    func relationsFromModel(_ folder: Folder) throws {
        // A folder that does not know its parent leaves it as it is.
        guard let parent = folder.parent else { return }
        let record = try parent.isEmpty ? nil : FolderRecord.record(from: Folder(uid: parent), in: managedObjectContext)
        setValue(record, forKey: "parent")
    }
}

/// A cabinet, which owns folders and says what is done when its record is filled.
struct Cabinet: Identifiable {
    let uid: String
    var id: String { uid }
    var filling: (CabinetRecord, NSManagedObjectContext) throws -> Void = { _, _ in }
}

final class CabinetRecord: NSManagedObject, RecordFromModel {
    func fromModel(_ cabinet: Cabinet) throws {
        if let context = managedObjectContext { try cabinet.filling(self, context) }
    }
}

/// A manager of folders in folders, and of cabinets with folders.
struct Folders: StoreFile {
    let folder: TestFolder
    let manager: PersistenceManager
    var file: URL { folder.file("folders.sqlite") }

    init() throws {
        folder = try TestFolder()
        let model = Library.model()
        let entity = NSEntityDescription()
        entity.name = "FolderRecord"
        entity.managedObjectClassName = NSStringFromClass(FolderRecord.self)
        func relationship(
            _ name: String, _ target: NSEntityDescription?, _ count: Int, _ rule: NSDeleteRule
        ) -> NSRelationshipDescription {
            let relationship = NSRelationshipDescription()
            relationship.name = name
            relationship.destinationEntity = target
            relationship.maxCount = count
            relationship.deleteRule = rule
            relationship.isOptional = true
            return relationship
        }
        let parent = relationship("parent", entity, 1, .nullifyDeleteRule)
        let children = relationship("children", entity, 0, .cascadeDeleteRule)
        parent.inverseRelationship = children
        children.inverseRelationship = parent
        let cabinets = NSEntityDescription()
        cabinets.name = "CabinetRecord"
        cabinets.managedObjectClassName = NSStringFromClass(CabinetRecord.self)
        let cabinet = relationship("cabinet", cabinets, 1, .nullifyDeleteRule)
        let contents = relationship("folders", entity, 0, .cascadeDeleteRule)
        cabinet.inverseRelationship = contents
        contents.inverseRelationship = cabinet
        func uid() -> NSAttributeDescription {
            let uid = NSAttributeDescription()
            uid.name = "uid"
            uid.attributeType = .stringAttributeType
            return uid
        }
        let owner = relationship("owner", model.entitiesByName["PersonRecord"], 1, .nullifyDeleteRule)
        entity.properties = [uid(), owner, parent, children, cabinet]
        cabinets.properties = [uid(), contents]
        model.entities += [entity, cabinets]
        manager = PersistenceManager(
            model: model, name: "Folders", store: .file(folder.file("folders.sqlite")))
        try manager.loadAndWait()
    }

    func save(_ folders: Folder...) throws {
        try manager.save(entity: FolderRecord.self, models: folders, shouldOverwrite: true)
    }

    func save(_ cabinets: Cabinet...) throws {
        try manager.save(entity: CabinetRecord.self, models: cabinets, shouldOverwrite: true)
    }

    func uids() throws -> [String] { try strings("SELECT ZUID FROM ZFOLDERRECORD ORDER BY ZUID") }
}
