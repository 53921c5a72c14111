import Foundation

extension NSObject {
    /// The class name in archives for objects of this class.
    ///
    /// In Objective-C it is also a method of the class, which is used to name transformers after the class they
    /// transform (CoreDataPlus does so). Foundation on Linux only has it for instances.
    public static func classForCoder() -> AnyClass { self }
}
