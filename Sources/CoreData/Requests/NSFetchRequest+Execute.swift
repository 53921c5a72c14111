extension NSFetchRequest: ImmediateFetch {
    func result(in context: NSManagedObjectContext) throws -> NSPersistentStoreResult {
        let others: NSFetchRequestResultType = [
            .managedObjectIDResultType, .dictionaryResultType, .countResultType,
        ]
        guard ResultType.self is NSManagedObject.Type, !resultType.isDisjoint(with: others) else {
            return NSAsynchronousFetchResult(self, context, found: try context.fetch(self))
        }
        // A request of books may ask for their number, which is no book.
        let request = NSFetchRequest<any NSFetchRequestResult>()
        request.take(from: self)
        return NSAsynchronousFetchResult(request, context, found: try context.fetch(request))
    }
}
