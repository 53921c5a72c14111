import CoreData
import Testing

// What AFIncrementalStore does, which apps used.
extension IncrementalStoreTests {
    @Test("A store that is asked for a relationship finds the object's values in the context (AFIncrementalStore)")
    func reading() throws {
        try saveAda()
        try context.performAndWait {
            let book = try #require(context.all("Book").first)
            context.refresh(book, mergeChanges: false)
            nonisolated(unsafe) var titles: [String?] = []  // filled while the block runs
            store.reads = { identifier, context in
                titles.append(try context?.existingObject(with: identifier).value(forKey: "title") as? String)
            }
            let calls = NotebookStore.calls { #expect(book.string("title") == "Notes") }
            store.reads = { _, _ in }
            #expect(Set(titles) == ["Notes"])
            #expect(calls.filter { $0.hasPrefix("values") }.count == 1)
            #expect((book.value(forKey: "author") as? NSManagedObject)?.string("name") == "Ada")
            #expect(!context.hasChanges)
        }
    }

    @Test("A store that gives temporary IDs as permanent ones refuses the save, which can be repeated")
    func temporaryIdentifiers() throws {
        try context.performAndWait {
            store.givesTemporaryIDs = true
            let ada = context.make("Author", ["name": "Ada"])
            let error = #expect(throws: NSError.self) { try context.save() }
            #expect(error?.code == NSPersistentStoreSaveError)
            #expect(error?.localizedDescription.contains("obtainPermanentIDs(for:) gave the temporary ID") == true)
            #expect(ada.objectID.isTemporaryID)
            store.givesTemporaryIDs = false
            try context.save()
            #expect(!ada.objectID.isTemporaryID)
        }
    }
}
