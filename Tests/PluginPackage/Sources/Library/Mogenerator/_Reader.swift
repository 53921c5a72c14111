// swift-format-ignore-file
// DO NOT EDIT. This file is machine-generated and constantly overwritten.
// Make changes to Reader.swift instead.

import CoreData
import Foundation

public enum ReaderAttributes: String {
    case budget = "budget"
    case level = "level"
    case name = "name"
}

public enum ReaderRelationships: String {
    case loans = "loans"
}

open class _Reader: NSManagedObject {

    // MARK: - Class methods

    open class func entityName() -> String {
        return "Reader"
    }

    open class func entity(managedObjectContext: NSManagedObjectContext) -> NSEntityDescription? {
        return NSEntityDescription.entity(forEntityName: self.entityName(), in: managedObjectContext)
    }

    // MARK: - Life cycle methods

    public override init(entity: NSEntityDescription, insertInto context: NSManagedObjectContext?) {
        super.init(entity: entity, insertInto: context)
    }

    public convenience init?(managedObjectContext: NSManagedObjectContext) {
        guard let entity = _Reader.entity(managedObjectContext: managedObjectContext) else { return nil }
        self.init(entity: entity, insertInto: managedObjectContext)
    }

    // MARK: - Properties

    @NSManaged open
        var budget: NSDecimalNumber?

    @NSManaged open
        var level: NSNumber?

    @NSManaged open
        var name: String?

    // MARK: - Relationships

    @NSManaged open
        var loans: NSSet

    open func loansSet() -> NSMutableSet {
        return self.loans.mutableCopy() as! NSMutableSet
    }

}

extension _Reader {

    public func addLoans(_ objects: NSSet) {
        let mutable = self.loans.mutableCopy() as! NSMutableSet
        mutable.union(objects as! Set<AnyHashable>)
        self.loans = mutable.copy() as! NSSet
    }

    public func addLoansObject(_ value: Loan) {
        let mutable = self.loans.mutableCopy() as! NSMutableSet
        mutable.add(value)
        self.loans = mutable.copy() as! NSSet
    }

}
