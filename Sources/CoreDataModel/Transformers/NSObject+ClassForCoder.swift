import Foundation

extension NSObject {
    /// The class name in archives for objects of this class.
    ///
    /// In Objective-C it is also a method of the class, by which programs name transformers after the class they
    /// transform. Foundation on Linux only has it for instances.
    public static func classForCoder() -> AnyClass { self }
}
