// swift-format-ignore-file
import CoreData
import Foundation

/// The library's model, from this module's resources.
public func libraryModel() -> NSManagedObjectModel? {
    Bundle.module.url(forResource: "Library", withExtension: "momd").flatMap(NSManagedObjectModel.init(contentsOf:))
}

/// Names a class that Foundation has as well.
public func titlePath() -> NSExpression {
    NSExpression(forKeyPath: "title")
}
