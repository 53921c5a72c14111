import CoreData
import Testing

/// Checks from the Key-Value Coding Programming Guide, and from the pages of `value(forKey:)`, `setValue(_:forKey:)`,
/// `primitiveValue(forKey:)`, `changedValues()` and `committedValues(forKeys:)`.
@MainActor @Suite("Documented: key-value coding")
struct KeyValueDocumentationTests {
    let container: NSPersistentContainer
    var context: NSManagedObjectContext { container.viewContext }
    let folder: NSManagedObject

    init() throws {
        container = try Notebook.inMemory()
        let context = container.viewContext
        folder = context.make("Folder", ["name": "F"])
        let red = context.make("Mark", ["color": "red"])
        let blue = context.make("Mark", ["color": "blue"])
        context.make("Note", ["title": "A", "stars": 2, "folder": folder, "marks": [red, blue] as Set])
        context.make("Note", ["title": "B", "stars": 4, "folder": folder, "marks": [red] as Set])
        context.make("Note", ["title": "B", "folder": folder])
        try context.save()
    }

    // MARK: Looking keys up

    @Test("A setter is looked up with the key's first letter capitalised: date finds Date")
    func setterOfCapitalisedName() {
        let note = context.make("Note")
        let date = Date(timeIntervalSinceReferenceDate: 1)
        note.setValue(date, forKey: "date")
        #expect(note.value(forKey: "Date") as? Date == date)
        #expect(note.value(forKey: "date") as? Date == date)
    }

    @Test("The other way round: Title sets title, Notes leads to notes")
    func setterOfLowercaseName() {
        let note = context.make("Note")
        note.setValue("T", forKey: "Title")
        #expect(note.value(forKey: "title") as? String == "T")
        #expect(folder.mutableSetValue(forKey: "Notes").count == 3)
        #expect((folder.value(forKeyPath: "Notes.Title") as? NSSet)?.count == 2)
    }

    @Test("A getter may be named is<Key>: done finds isDone")
    func getterOfBoolean() {
        let note = context.make("Note", ["isDone": true])
        #expect(note.value(forKey: "done") as? Bool == true)
    }

    @Test("Primitive values are found in the same way")
    func primitives() {
        let note = context.make("Note")
        let date = Date(timeIntervalSinceReferenceDate: 2)
        note.setPrimitiveValue(date, forKey: "date")
        #expect(note.primitiveValue(forKey: "Date") as? Date == date)
        #expect(note.primitiveValue(forKey: "date") as? Date == date)
    }

    @Test("The property of just that name comes first")
    func exactNameFirst() throws {
        let model = NSManagedObjectModel()
        model.entities = [
            Library.entity(
                "Both",
                [Library.attribute("date", .stringAttributeType), Library.attribute("Date", .stringAttributeType)])
        ]
        let object = try Library.inMemory(model).viewContext.make("Both", ["date": "lower", "Date": "upper"])
        #expect(object.shown("date") == "lower" && object.shown("Date") == "upper")
    }

    @Test("A managed object's own properties have keys, too")
    func ownKeys() {
        #expect(folder.value(forKey: "objectID") as? NSManagedObjectID == folder.objectID)
        #expect(folder.value(forKey: "hasChanges") as? Bool == false)
        #expect(folder.value(forKey: "isDeleted") as? Bool == false)
        #expect(folder.value(forKeyPath: "entity") as? NSEntityDescription == folder.entity)
    }

    @Test(
        "setValuesForKeys sets each property with setValue(_:forKey:), NSNull for none; dictionaryWithValues gives NSNull for none"
    )
    func dictionaries() {
        let note = context.make("Note", ["title": "A"])
        note.setValuesForKeys(["title": NSNull(), "stars": 3])
        let values = note.dictionaryWithValues(forKeys: ["title", "stars"])
        #expect(values["title"] is NSNull && values["stars"] as? Int == 3)
    }

    // MARK: Key paths

    @Test("setValue(_:forKeyPath:) through a to-many relationship sets every member")
    func setsEveryMember() {
        folder.setValue(5, forKeyPath: "notes.stars")
        #expect(folder.value(forKeyPath: "notes.stars") as? NSSet == NSSet(array: [5]))
        folder.setValue("green", forKeyPath: "notes.marks.color")
        #expect(folder.value(forKeyPath: "notes.@distinctUnionOfSets.marks.color") as? NSSet == NSSet(array: ["green"]))
    }

    @Test("A path that ends early, at a relationship without a destination, sets nothing")
    func setsNothing() {
        let note = context.make("Note")
        note.setValue("X", forKeyPath: "folder.name")
        #expect(note.value(forKeyPath: "folder.name") == nil)
    }

    @Test("valueForKey of a set collects the members' values, without those that are nil, each once")
    func setOfValues() {
        #expect(folder.value(forKeyPath: "notes.stars") as? NSSet == NSSet(array: [2, 4]))
        #expect(folder.value(forKeyPath: "notes.title") as? NSSet == NSSet(array: ["A", "B"]))
    }

    @Test("A set of values has a count of its own, that of different values")
    func countOfValues() {
        #expect(folder.value(forKeyPath: "notes.title.@count") as? Int == 2)
        #expect(folder.value(forKeyPath: "notes.stars.@count") as? Int == 2)
    }

    @Test("@count is the number of objects, whatever path follows")
    func count() {
        #expect(folder.value(forKeyPath: "notes.@count") as? Int == 3)
        #expect(folder.value(forKeyPath: "notes.@count.stars") as? Int == 3)
    }

    @Test("@avg counts nil as 0, and is 0 of no objects")
    func average() {
        #expect(folder.value(forKeyPath: "notes.@avg.stars") as? Double == 2)
        #expect(context.make("Folder").value(forKeyPath: "notes.@avg.stars") as? Double == 0)
    }

    @Test("@sum counts nil as 0, and is 0 of no objects")
    func sum() {
        #expect(folder.value(forKeyPath: "notes.@sum.stars") as? Int == 6)
        #expect(context.make("Folder").value(forKeyPath: "notes.@sum.stars") as? Int == 0)
    }

    @Test("@max and @min ignore nil, and have no value of no objects")
    func extremes() {
        #expect(folder.value(forKeyPath: "notes.@max.stars") as? Int == 4)
        #expect(folder.value(forKeyPath: "notes.@min.stars") as? Int == 2)
        #expect(folder.value(forKeyPath: "notes.@max.title") as? String == "B")
        #expect(context.make("Folder").value(forKeyPath: "notes.@min.stars") == nil)
    }

    @Test("@unionOfObjects is an array with duplicates, @distinctUnionOfObjects one without")
    func unionsOfObjects() {
        let all = folder.value(forKeyPath: "notes.@unionOfObjects.title") as? [String]
        #expect(all?.sorted() == ["A", "B", "B"])
        let distinct = folder.value(forKeyPath: "notes.@distinctUnionOfObjects.title") as? [String]
        #expect(distinct?.sorted() == ["A", "B"])
    }

    @Test("@distinctUnionOfSets is a set of what is in all the sets; the union of arrays keeps duplicates")
    func unionsOfCollections() {
        let marks = folder.value(forKeyPath: "notes.@distinctUnionOfSets.marks") as? NSSet
        #expect(marks?.count == 2)
        let colors = folder.value(forKeyPath: "notes.@distinctUnionOfSets.marks.color") as? NSSet
        #expect(colors == NSSet(array: ["red", "blue"]))
        #expect(
            (folder.value(forKeyPath: "notes.@unionOfArrays.marks.color") as? [String])?.sorted() == [
                "blue", "red", "red",
            ])
        let distinct = folder.value(forKeyPath: "notes.@distinctUnionOfArrays.marks.color") as? [String]
        #expect(distinct?.sorted() == ["blue", "red"])
    }

    @Test("Operators nest: the right side of one may have another")
    func nested() {
        #expect(folder.value(forKeyPath: "notes.@sum.marks.@count") as? Int == 3)
        #expect(folder.value(forKeyPath: "notes.@max.marks.@count") as? Int == 2)
    }

    // MARK: Changes

    @Test("changedValues: persistent properties only, with their new values")
    func changedValues() throws {
        let note = try #require(try context.all("Note", by: "title").first)
        note.setValue("C", forKey: "cache")
        #expect(note.changedValues().isEmpty && !note.hasPersistentChangedValues)
        note.setValue("New", forKey: "title")
        #expect(note.changedValues() as? [String: String] == ["title": "New"])
        #expect(note.hasPersistentChangedValues)
        note.setValue("A", forKey: "title")
        #expect(note.changedValues().isEmpty)
    }

    @Test("changedValues: a new set of destinations for a to-many relationship")
    func changedMembers() throws {
        let note = try #require(try context.all("Note", by: "title").first)
        note.mutableSetValue(forKey: "marks").removeAllObjects()
        #expect(note.changedValues()["marks"] as? NSSet == NSSet())
    }

    @Test("committedValues: persistent properties only, with the values last fetched or saved, NSNull for none")
    func committedValues() throws {
        let note = try #require(try context.all("Note", by: "title").first)
        note.setValue("New", forKey: "title")
        note.setValue("C", forKey: "cache")
        note.setValue(1.5, forKey: "weight")
        #expect(note.committedValues(forKeys: nil)["cache"] == nil)
        #expect(note.committedValues(forKeys: ["cache"]).isEmpty)
        let values = note.committedValues(forKeys: ["title", "weight"])
        #expect(values["title"] as? String == "A" && values["weight"] is NSNull && values.count == 2)
    }

    @Test(
        "changedValuesForCurrentEvent: the former values of persistent properties that changed since the last notification"
    )
    func eventValues() throws {
        let note = try #require(try context.all("Note", by: "title").first)
        note.setValue("New", forKey: "title")
        note.setValue("C", forKey: "cache")
        #expect(note.changedValuesForCurrentEvent() as? [String: String] == ["title": "A"])
        context.processPendingChanges()
        #expect(note.changedValuesForCurrentEvent().isEmpty)
    }

    @Test("setPrimitiveValue calls no change notification: neither the object nor changedValues() reports it")
    func primitivesAreNoChange() throws {
        let note = try #require(try context.all("Note", by: "title").first)
        _ = note.value(forKey: "title")
        note.setPrimitiveValue("P", forKey: "title")
        #expect(note.value(forKey: "title") as? String == "P")
        #expect(!note.hasChanges && !context.hasChanges)
        #expect(note.changedValues().isEmpty && !note.hasPersistentChangedValues)
    }

    @Test("A primitive value of an object that is changed otherwise is saved with it")
    func primitivesOfChangedObjects() throws {
        let note = try #require(try context.all("Note", by: "title").first)
        note.setValue(3, forKey: "stars")
        note.setPrimitiveValue("P", forKey: "title")
        #expect(Set(note.changedValues().keys) == ["stars", "title"])
        try context.save()
        context.reset()
        #expect(try context.all("Note", NSPredicate(format: "title == 'P' AND stars == 3")).count == 1)
    }

    // MARK: Fetched properties

    @Test("A fetched property is fetched once, and kept until its object is turned into a fault")
    func fetchedProperty() throws {
        #expect((folder.value(forKey: "goodNotes") as? [NSManagedObject])?.count == 1)
        context.make("Note", ["title": "N", "stars": 5, "folder": folder])
        try context.save()
        #expect((folder.value(forKey: "goodNotes") as? [NSManagedObject])?.count == 1)
        folder.setValue("renamed", forKey: "name")
        try context.save()
        #expect((folder.value(forKey: "goodNotes") as? [NSManagedObject])?.count == 1)
        context.refresh(folder, mergeChanges: false)
        #expect((folder.value(forKey: "goodNotes") as? [NSManagedObject])?.count == 2)
    }

    @Test("primitiveValue(forKey:) has the objects of a fetched property, for accessors (a test of Crush)")
    func primitiveFetchedProperty() {
        folder.willAccessValue(forKey: "goodNotes")
        #expect((folder.primitiveValue(forKey: "goodNotes") as? [NSManagedObject])?.count == 1)
        folder.didAccessValue(forKey: "goodNotes")
    }

    @Test("refresh(_:mergeChanges:) has a fetched property fetched again, with either flag")
    func refreshedProperty() throws {
        #expect((folder.value(forKey: "goodNotes") as? [NSManagedObject])?.count == 1)
        context.make("Note", ["title": "N", "stars": 5, "folder": folder])
        try context.save()
        context.refresh(folder, mergeChanges: true)
        #expect((folder.value(forKey: "goodNotes") as? [NSManagedObject])?.count == 2)
    }

    @Test("A fetched property stays through a rollback of its object's changes")
    func fetchedPropertyAfterRollback() throws {
        #expect((folder.value(forKey: "goodNotes") as? [NSManagedObject])?.count == 1)
        context.make("Note", ["title": "N", "stars": 5, "folder": folder])
        try context.save()
        folder.setValue("renamed", forKey: "name")
        context.rollback()
        #expect((folder.value(forKey: "goodNotes") as? [NSManagedObject])?.count == 1)
        #expect((folder.value(forKey: "notes") as? NSSet)?.count == 4)
    }
}
