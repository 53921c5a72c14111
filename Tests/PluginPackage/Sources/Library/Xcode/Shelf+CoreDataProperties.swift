// swift-format-ignore-file
import CoreData
import Foundation

// As Xcode writes it for Codegen “Manual/None”, without the @objc attributes.
extension Shelf {

    @nonobjc public class func fetchRequest() -> NSFetchRequest<Shelf> {
        return NSFetchRequest<Shelf>(entityName: "Shelf")
    }

    @NSManaged public var label: String?
    @NSManaged public var books: NSSet?

}

// MARK: Generated accessors for books
extension Shelf {

    @NSManaged public func addToBooks(_ value: Book)

    @NSManaged public func removeFromBooks(_ value: Book)

    @NSManaged public func addToBooks(_ values: NSSet)

    @NSManaged public func removeFromBooks(_ values: NSSet)

}

extension Shelf: Identifiable {

}
