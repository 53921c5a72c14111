import Foundation
public class NSExpression: NSObject {}
